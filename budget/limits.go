package budget

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/adk/model"
)

const (
	// defaultReply is reserved for the reply of an unknown model: many models are limited to this,
	// and servers that are given no limit reserve it.
	defaultReply = 8_192
	// defaultReplyDivisor caps a reserve that nobody asked for at a tenth of the window, as package
	// compaction does. Models are sold with replies of up to half of their window, and hardly any
	// reply is that long.
	defaultReplyDivisor = 10
	// replyDivisor caps a reserve that was asked for at half of the window. With more, little is left
	// for the prompt (anomalyco/opencode #49965 had a reserve as large as the window).
	replyDivisor = 2
)

// windows are what is known of one model.
type windows struct {
	total, reply int  // context window and default reserve
	assumed      bool // nobody knows the context window
}

// modelOf is the name of the model that a request goes to.
func modelOf(name string, req *model.LLMRequest) string {
	if req != nil {
		return cmp.Or(req.Model, name)
	}
	return name
}

// windowsOf looks a model up, once.
func (m *Meter) windowsOf(name string) windows {
	if w, known := m.models.Get(name); known {
		return w
	}
	row, _ := m.cfg.Registry.Lookup(name)
	total, known := m.cfg.Registry.Window(name)
	w := windows{total: cmp.Or(m.cfg.ContextWindow, total), assumed: m.cfg.ContextWindow == 0 && !known}
	w.reply = m.reserve(row.MaxOutputTokens, w.total)
	m.models.Add(name, w)
	return w
}

// reserve is what is reserved for the reply in a window if the request does not say. The argument
// longest is the longest reply of the model, 0 if unknown.
func (m *Meter) reserve(longest, window int) int {
	switch configured := m.cfg.MaxOutputTokens; {
	case configured == Off:
		return 0
	case configured > 0:
		return min(configured, window/replyDivisor)
	default:
		return min(cmp.Or(longest, defaultReply), window/defaultReplyDivisor)
	}
}

// learn takes the limit that a provider named when it refused a prompt for the context window of a
// model, for as long as the process lives.
func (m *Meter) learn(name string, total int) {
	if total <= 0 {
		return
	}
	row, _ := m.cfg.Registry.Lookup(name)
	m.models.Add(name, windows{total: total, reply: m.reserve(row.MaxOutputTokens, total)})
}

// window returns the budget of a request, without its components.
func (m *Meter) window(name string, req *model.LLMRequest) Budget {
	w := m.windowsOf(name)
	b := Budget{Total: w.total, MaxOutputTokens: w.reply}
	if req != nil && req.Config != nil && req.Config.MaxOutputTokens > 0 {
		b.MaxOutputTokens = min(int(req.Config.MaxOutputTokens), w.total/replyDivisor)
	}
	return b
}

// warnIfAssumed reports that the context window of the caller's model is assumed, once for each model.
func (m *Meter) warnIfAssumed(ctx context.Context, c caller) {
	w := m.windowsOf(c.model)
	if !w.assumed {
		return
	}
	if warned, _ := m.warned.ContainsOrAdd(c.model, struct{}{}); warned {
		return
	}
	m.log(ctx, slog.LevelWarn, "the context window of the model is unknown, and assumed: set ContextWindow or add the model to the Registry", c,
		slog.Int("tokens", w.total))
	o := c.observation(WindowAssumed)
	o.Budget = Budget{Total: w.total, MaxOutputTokens: w.reply}
	o.Reason = fmt.Sprintf("no context window is known for the model, and %d tokens are assumed", w.total)
	m.observe(ctx, o)
}
