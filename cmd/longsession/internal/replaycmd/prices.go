package replaycmd

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// models are offered to the shell for --model. Package tokens knows many more; these have prices.
var models = []string{
	"claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5",
	"gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-flash", "gemini-3-pro",
	"gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "gpt-5",
}

// agentModel finds the agent's model. It accepts an unknown name only together with prices and a
// window.
func agentModel(name string, price tokens.Model, windowGiven bool) (tokens.Model, error) {
	m, known := tokens.Lookup(name)
	if !known && !(price.Priced() && windowGiven) {
		return m, exit.Usage("--model %q is in no table: name another, such as gemini-2.5-flash, or give both --price and --context-window", name)
	}
	if !known {
		m.Name = name
	}
	if price.Priced() {
		m.InputPrice, m.CachedInputPrice, m.OutputPrice = price.InputPrice, price.CachedInputPrice, price.OutputPrice
	}
	return m, nil
}

// summaryModel finds the model whose prices apply to summaries. An unknown model can write
// summaries, but without prices it cannot be used for an estimate.
func summaryModel(f *flags) (tokens.Model, error) {
	m, known := tokens.Lookup(f.summaryModel)
	if !known && f.policy.summarizer != geminis && !strings.Contains(gridText(f.grid), geminis) {
		return m, exit.Usage("--summary-model %q is in no table: without --summarizer gemini only its prices are used; name another, such as gemini-2.5-flash", f.summaryModel)
	}
	return m, nil
}

// maxPrice is in USD per million tokens. No model costs as much, and sums of it stay finite.
const maxPrice = 1_000_000

// priceValue is the value of --price, as parsePrice takes it.
func priceValue(to *tokens.Model) setting.Value {
	return setting.New(func() string {
		if !to.Priced() {
			return ""
		}
		return fmt.Sprintf("input=%v,cached=%v,output=%v", to.InputPrice, to.CachedInputPrice, to.OutputPrice)
	}, func(text string) (err error) { *to, err = parsePrice(text); return err })
}

// parsePrice parses 'input=3,cached=0.3,output=15'. The prices replace all prices of a model, so
// that two price lists are never mixed. Without cached, cached tokens cost as much as other input.
func parsePrice(text string) (m tokens.Model, err error) {
	const form = "write --price 'input=3,cached=0.3,output=15', in USD per million tokens"
	seen := map[string]bool{}
	for word := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		field := map[string]*float64{"input": &m.InputPrice, "cached": &m.CachedInputPrice, "output": &m.OutputPrice}[key]
		if field == nil {
			return m, fmt.Errorf("%q is not input, cached or output; %s", key, form)
		}
		if seen[key] {
			return m, fmt.Errorf("%s appears twice; %s", key, form)
		}
		seen[key] = true
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(usd) || math.IsInf(usd, 0) || usd < 0 {
			return m, fmt.Errorf("%s=%q is not a price; %s", key, value, form)
		}
		if usd > maxPrice {
			return m, fmt.Errorf("%s=%s is more than %s; %s", key, value, terminal.Commas(maxPrice), form)
		}
		if usd == 0 && key == "cached" { // package tokens takes 0 for unknown
			return m, fmt.Errorf("cached=%s: a price of 0 for cached tokens is not supported; write a very small price, such as cached=0.000001, or leave it out: then cached tokens cost as much as input", value)
		}
		*field = usd
	}
	if !m.Priced() {
		return m, fmt.Errorf("%q: input and output must both be given, above 0; %s", text, form)
	}
	return m, nil
}

// maxFixed is in tokens: more than any context window holds.
const maxFixed = 10_000_000

// fixedNames are the values of --fixed that are not numbers.
var fixedNames = map[string]replay.Fixed{"auto": replay.FixedAuto, "recorded": replay.FixedRecorded}

// fixedValue is the value of --fixed: auto, recorded or a number of tokens. A negative number is
// refused like any other text, because [replay.Fixed] has meanings of its own for negative numbers.
func fixedValue(to *replay.Fixed) setting.Value {
	return setting.New(func() string { return fixedText(*to) }, func(text string) error {
		n, err := strconv.Atoi(text)
		named, ok := fixedNames[text]
		switch {
		case ok:
			*to = named
		case n < 0, err != nil && !errors.Is(err, strconv.ErrRange):
			return &setting.Refused{Value: fmt.Sprintf("%q", text), Reason: "use auto, recorded, or a number of tokens"}
		case n > maxFixed:
			return &setting.Refused{Value: text, Reason: "it must be at most " + terminal.Commas(maxFixed) + " tokens"}
		default:
			*to = replay.Fixed(n)
		}
		return nil
	})
}

// fixedText writes the value as fixedValue takes it.
func fixedText(fixed replay.Fixed) string {
	for name, named := range fixedNames {
		if named == fixed {
			return name
		}
	}
	return strconv.Itoa(int(fixed))
}

// describePrices lists the prices of a million tokens.
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
	return fmt.Sprintf("%s input, %s cached, %s output per million tokens (%s)", usd(m.InputPrice), usd(cachedPrice(m)), usd(m.OutputPrice), m.Name)
}

// cachedPrice is the price of cached input, which is that of other input if a model has none.
func cachedPrice(m tokens.Model) float64 {
	if m.CachedInputPrice == 0 {
		return m.InputPrice
	}
	return m.CachedInputPrice
}
