package replaycmd

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

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
