package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// Spent is what some model calls used and cost.
type Spent struct {
	Calls int
	Usage tokens.Usage
	// USD is the cost of the calls whose price is known.
	USD tokens.Nano
	// Unpriced counts the calls whose price is not known.
	Unpriced int
}

// MarshalJSON writes one flat object.
func (s Spent) MarshalJSON() ([]byte, error) { return json.Marshal(s.fields()) }

type spentFields struct {
	Calls    int     `json:"calls"`
	Prompt   int     `json:"prompt_tokens"`
	Cached   int     `json:"cached_tokens"`
	Output   int     `json:"output_tokens"`
	USD      float64 `json:"usd"`
	Unpriced int     `json:"unpriced_calls"`
}

func (s Spent) fields() spentFields {
	return spentFields{s.Calls, s.Usage.PromptTokens, s.Usage.CachedTokens, s.Usage.OutputTokens, s.USD.USD(), s.Unpriced}
}

// Add adds up. A file may claim any number, so a sum that does not fit stays at the greatest value.
func (s Spent) Add(o Spent) Spent {
	return Spent{
		Calls:    sum(s.Calls, o.Calls),
		Usage:    tokens.Usage{PromptTokens: sum(s.Usage.PromptTokens, o.Usage.PromptTokens), CachedTokens: sum(s.Usage.CachedTokens, o.Usage.CachedTokens), OutputTokens: sum(s.Usage.OutputTokens, o.Usage.OutputTokens)},
		USD:      sum(s.USD, o.USD),
		Unpriced: sum(s.Unpriced, o.Unpriced),
	}
}

// Cost is the cost in words. One that is not known is never shown as 0.
func (s Spent) Cost() string {
	switch {
	case s.Unpriced > 0 && s.Unpriced >= s.Calls:
		return "unpriced"
	case s.Unpriced == 1:
		return s.USD.String() + " + 1 unpriced call"
	case s.Unpriced > 0:
		return fmt.Sprintf("%v + %d unpriced calls", s.USD, s.Unpriced)
	}
	return s.USD.String()
}

// sum adds numbers that are not negative.
func sum[N ~int | ~int64](a, b N) N {
	if c := a + b; c >= a {
		return c
	}
	return N(math.MaxInt64)
}

// billed is the usage that a provider bills. Unlike [tokens.UsageOf] it has the prompts of tools that
// ran at the provider.
func billed(m *genai.GenerateContentResponseUsageMetadata) tokens.Usage {
	u := tokens.UsageOf(m)
	u.PromptTokens += max(0, int(m.ToolUsePromptTokenCount))
	return u
}

// Prices say what calls cost. The zero value has the prices of the built-in table.
type Prices struct {
	Registry *tokens.Registry
	// Model is assumed for calls whose events do not name their model. If empty, such calls have no
	// price.
	Model string
	// As is the model whose prices apply to models without prices. If empty, they stay unpriced.
	As string
}

// Priced is the model of a call as a report shows it.
type Priced struct {
	// Model is empty if the event does not name one and none is assumed.
	Model string `json:"model"`
	// Assumed is true if the event does not name its model.
	Assumed bool `json:"assumed,omitempty"`
	// As is the model whose prices were used instead, because Model has none.
	As string `json:"priced_as,omitempty"`
}

// price returns what one call cost.
func (p Prices) price(model string, u tokens.Usage) (Priced, Spent) {
	of := Priced{Model: model}
	if model == "" && p.Model != "" {
		of = Priced{Model: p.Model, Assumed: true}
	}
	entry, _ := p.Registry.Lookup(of.Model)
	if !entry.Priced() && p.As != "" {
		if other, _ := p.Registry.Lookup(p.As); other.Priced() {
			entry, of.As = other, p.As
		}
	}
	s := Spent{Calls: 1, Usage: u}
	if !entry.Priced() {
		s.Unpriced = 1
		return of, s
	}
	s.USD = max(0, entry.Nanos(u))
	return of, s
}

// NewPrices returns prices for calls whose events do not name a model, which get model, for a model that has the prices of
// entry, unless that is empty, and for models without prices, which get those of as. An error names the flag.
func NewPrices(model string, entry tokens.Model, as string) (p Prices, err error) {
	p = Prices{Model: model, As: as}
	if entry.Priced() {
		if model == "" {
			return p, errors.New("--price without --model: name the model that has these prices")
		}
		entry.Name = model
		if p.Registry, err = tokens.NewRegistry(entry); err != nil {
			return p, fmt.Errorf("--price: %w", err)
		}
	}
	if m, _ := p.Registry.Lookup(as); as != "" && !m.Priced() {
		return p, fmt.Errorf("--price-as is %q: no price is known for it; name another, such as gemini-2.5-flash", as)
	}
	return p, nil
}
