package pricing

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/tokens"
)

// Models are offered to a shell for flags that take a model. Package tokens knows many more; these have prices.
var Models = []string{
	"claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5",
	"gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-flash", "gemini-3-pro",
	"gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "gpt-5",
}

// maxPrice is in USD per million tokens. No model costs as much, and sums of it stay finite.
const maxPrice = 1_000_000

// minPrice is that of package tokens, which takes less for a price per token.
const minPrice = 0.0001

// Value is the value of --price: prices such as 'input=3,cached=0.3,output=15', which replace all
// prices of a model.
func Value(to *tokens.Model) setting.Value {
	return setting.New(func() string {
		if !to.Priced() {
			return ""
		}
		return fmt.Sprintf("input=%v,cached=%v,output=%v", to.InputPrice, to.CachedInputPrice, to.OutputPrice)
	}, func(text string) (err error) { *to, err = parse(text); return err })
}

// parse parses 'input=3,cached=0.3,output=15'. The prices replace all prices of a model, so
// that two price lists are never mixed. Without cached, cached tokens cost as much as other input.
func parse(text string) (m tokens.Model, err error) {
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
			return m, fmt.Errorf("cached=%s: a price of 0 for cached tokens is not supported; write a very small price, such as cached=0.0001, or leave it out: then cached tokens cost as much as input", value)
		}
		if usd > 0 && usd < minPrice {
			return m, fmt.Errorf("%s=%s is less than %v; %s", key, value, minPrice, form)
		}
		*field = usd
	}
	if !m.Priced() {
		return m, fmt.Errorf("%q: input and output must both be given, above 0; %s", text, form)
	}
	if m.CachedInputPrice > m.InputPrice {
		return m, fmt.Errorf("%q: cached tokens may not cost more than input; %s", text, form)
	}
	return m, nil
}

// Ceiling is the value of a flag for an amount in USD. 0 means that there is no ceiling.
func Ceiling(to *tokens.Nano) setting.Value {
	return setting.New(func() string {
		return strconv.FormatFloat(to.USD(), 'f', -1, 64)
	}, func(text string) error {
		usd, err := tokens.ParseUSD(text)
		if err != nil {
			return err
		}
		*to = usd
		return nil
	})
}
