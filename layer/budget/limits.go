package budget

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/adk/model"
)

// budgetOf returns the budget of a request, without its components.
func (m *Meter) budgetOf(name string, req *model.LLMRequest) Budget {
	w := m.windows.For(name, req)
	return Budget{Total: w.Total, MaxOutputTokens: w.Reply}
}

// warnIfAssumed reports that the context window of the caller's model is assumed, once for each model.
func (m *Meter) warnIfAssumed(ctx context.Context, c caller) {
	w := m.windows.Of(c.model)
	if !w.Assumed {
		return
	}
	if warned, _ := m.warned.ContainsOrAdd(c.model, struct{}{}); warned {
		return
	}
	m.log(ctx, slog.LevelWarn, "the context window of the model is unknown, and assumed: set ContextWindow or add the model to the Registry", c,
		slog.Int("tokens", w.Total))
	o := c.observation(WindowAssumed)
	o.Budget = Budget{Total: w.Total, MaxOutputTokens: w.Reply}
	o.Reason = fmt.Sprintf("no context window is known for the model, and %d tokens are assumed", w.Total)
	m.observe(ctx, o)
}
