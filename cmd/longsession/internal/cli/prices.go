package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// agentModel finds the model whose prices and window the report takes. A name that no table knows will do
// if both were given.
func agentModel(name, price string, windowGiven bool) (tokens.Model, error) {
	m, known := tokens.Lookup(name)
	if !known && (price == "" || !windowGiven) {
		return m, badInput("--model %q is in no table: name another, such as gemini-2.5-flash, or give both --price and --context-window", name)
	}
	if !known {
		m.Name = name
	}
	if price == "" {
		return m, nil
	}
	err := parsePrice(price, &m)
	return m, err
}

// summaryModel finds the model whose prices summaries are charged at. One that no table knows can be asked,
// but nothing can be estimated with it.
func summaryModel(s *settings) (tokens.Model, error) {
	m, known := tokens.Lookup(s.summaryModel)
	if !known && s.policy.summarizer != geminis && !strings.Contains(s.grid, geminis) {
		return m, badInput("--summary-model %q is in no table: without --summarizer gemini only its prices are asked for; name another, such as gemini-2.5-flash", s.summaryModel)
	}
	return m, nil
}

// maxPrice is in USD per million tokens: more than any model costs, and sums stay finite.
const maxPrice = 1_000_000

// parsePrice reads 'input=3,cached=0.3,output=15'. Prices go together, so that two price lists are never
// mixed; without cached, the cached prefix costs what the rest does.
func parsePrice(text string, m *tokens.Model) error {
	const form = "write --price 'input=3,cached=0.3,output=15', in USD per million tokens"
	m.InputPrice, m.CachedInputPrice, m.OutputPrice = 0, 0, 0
	seen := map[string]bool{}
	for word := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		field := map[string]*float64{"input": &m.InputPrice, "cached": &m.CachedInputPrice, "output": &m.OutputPrice}[key]
		if field == nil {
			return badInput("--price: %q is not input, cached or output; %s", key, form)
		}
		if seen[key] {
			return badInput("--price: %s stands there twice; %s", key, form)
		}
		seen[key] = true
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 {
			return badInput("--price: %s=%q is no price; %s", key, value, form)
		}
		if usd > maxPrice {
			return badInput("--price: %s=%s is more than %s; %s", key, value, commas(maxPrice), form)
		}
		if usd == 0 && key == "cached" { // package tokens takes 0 for unknown
			return badInput("--price: cached=%s: a cached prefix that costs nothing cannot be expressed; write a very small price, such as cached=0.000001, or leave it out: then it costs what input does", value)
		}
		*field = usd
	}
	if !m.Priced() {
		return badInput("--price %q: input and output must both be given, above 0; %s", text, form)
	}
	return nil
}

// maxFixed is in tokens: more than any context window holds.
const maxFixed = 10_000_000

// parseFixed reads the value of --fixed.
func parseFixed(text string) (replay.Fixed, error) {
	switch text {
	case "auto":
		return replay.FixedAuto, nil
	case "recorded":
		return replay.FixedRecorded, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case n < 0, err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, badInput("--fixed %q: use auto, recorded, or a number of tokens", text)
	case n > maxFixed:
		return 0, badInput("--fixed %s: it must be at most %s tokens", text, commas(maxFixed))
	}
	return replay.Fixed(n), nil
}

// describePrices says what a million tokens cost.
func describePrices(m tokens.Model) string {
	if !m.Priced() {
		return fmt.Sprintf("none known for %s (give --price)", m.Name)
	}
	usd := func(price float64) string {
		if cents := strconv.FormatFloat(price, 'f', 2, 64); cents != "0.00" {
			if same, _ := strconv.ParseFloat(cents, 64); same == price {
				return "$" + cents
			}
		}
		return "$" + strconv.FormatFloat(price, 'f', -1, 64)
	}
	cached := m.CachedInputPrice
	if cached == 0 {
		cached = m.InputPrice
	}
	return fmt.Sprintf("%s input, %s cached, %s output per million tokens (%s)", usd(m.InputPrice), usd(cached), usd(m.OutputPrice), m.Name)
}
