package guard

import (
	"context"
	"time"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/tokens"
)

// call is one call of a model that was reserved.
type call struct {
	g      *Guard
	who    caller
	payer  ledger.Payer
	model  string
	ticket *ledger.Call
	lands  bool
	left   time.Duration     // of the shortest time limit, 0 if there is none
	limit  *ledger.Stop      // that limit
	req    *model.LLMRequest // as the plugin saw it

	last     *model.LLMResponse // the newest partial response
	answered bool               // a response has come
	sent     bool               // as a last call
	settled  bool
	usage    tokens.Usage // the largest report of a response, the zero value if there is none
	guessed  bool         // an estimate is charged
}

// guessedReply is how long the reply to a session's first call is taken to be, in tokens.
const guessedReply = 1_000

// reserve asks for a call, and waits as long as calls in flight may use up what is left. If it is refused, the
// error is a [*StopError] or an [*UnpricedError], or the context's.
func (g *Guard) reserve(ctx context.Context, who caller, p ledger.Payer, name string, req *model.LLMRequest) (*call, error) {
	if _, priced := g.price(name); !priced && g.cfg.Unpriced == UnpricedRefuse {
		return nil, &UnpricedError{name}
	}
	var guess ledger.Amount
	if p.Account.First() && p.Limited() {
		contents, fixed := promptsize.OfRequest(req)
		guess, _ = g.amount(name, tokens.Usage{PromptTokens: contents + fixed, OutputTokens: guessedReply})
	}
	for {
		d := p.Reserve(g.cfg.Now(), guess, g.cfg.Landing == LandingSoft)
		g.tripped(ctx, who, p, d.Tripped)
		switch {
		case d.Stop != nil:
			return nil, stopError(d.Stop)
		case d.Wait != nil:
			select {
			case <-d.Wait:
				if ctx.Err() != nil { // both have ended at once
					return nil, ctx.Err()
				}
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return &call{g: g, who: who, payer: p, model: name, ticket: d.Call, lands: d.Land, left: d.Left, limit: d.Limit}, nil
	}
}

// price returns the prices of a model, and whether they are known.
func (g *Guard) price(name string) (tokens.Model, bool) {
	if m, ok := g.cfg.Registry.Lookup(name); ok && m.Priced() {
		return m, true
	}
	if g.cfg.Unpriced == UnpricedAs {
		m, _ := g.cfg.Registry.Lookup(g.cfg.PriceAs)
		return m, true
	}
	return tokens.Model{}, false
}

// amount returns what one call has used, and whether the prices of the model are known.
func (g *Guard) amount(name string, u tokens.Usage) (ledger.Amount, bool) {
	m, priced := g.price(name)
	a := ledger.Amount{Calls: 1, Usage: u}
	if priced {
		a.USD = m.Nanos(u)
	}
	return a, priced
}

// tripped reports bounds that are reached.
func (g *Guard) tripped(ctx context.Context, who caller, p ledger.Payer, stops []ledger.Stop) {
	for _, s := range stops {
		o := who.observation(Tripped, p)
		o.Stop = stopError(&s)
		g.observe(ctx, o)
	}
}
