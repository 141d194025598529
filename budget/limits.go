package budget

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/model"
)

const (
	// defaultReply is reserved for the reply of an unknown model: many models are limited to this,
	// and servers that are given no limit reserve it.
	defaultReply = 8_192
	// defaultReplyDivisor caps a reserve by default at a tenth of the window, as package
	// compaction does. Models are sold with replies of up to half of their window, and hardly any
	// reply is that long.
	defaultReplyDivisor = 10
	// replyDivisor caps a reserve that was asked for at half of the window. With more, little is left
	// for the prompt (anomalyco/opencode #49965 had a reserve as large as the window).
	replyDivisor = 2
)

// windowTable has the context windows of models.
type windowTable struct {
	cfg    *Config
	models *lru.Cache[string, windows]
}

// windows are what is known of one model.
type windows struct {
	total, reply int  // context window and default reserve
	assumed      bool // neither the config nor the registry has the context window
}

// modelOf is the name of the model that a request goes to.
func modelOf(name string, req *model.LLMRequest) string {
	if req != nil {
		return cmp.Or(req.Model, name)
	}
	return name
}

// lookup looks a model up, once.
func (t *windowTable) lookup(name string) windows {
	if w, known := t.models.Get(name); known {
		return w
	}
	row, _ := t.cfg.Registry.Lookup(name)
	total, known := t.cfg.Registry.Window(name)
	w := windows{total: cmp.Or(t.cfg.ContextWindow, total), assumed: t.cfg.ContextWindow == 0 && !known}
	w.reply = t.reserve(row.MaxOutputTokens, w.total)
	t.models.Add(name, w)
	return w
}

// reserve is the part of a window that is reserved for the reply if the request sets no limit. The argument
// longest is the longest reply of the model, 0 if unknown.
func (t *windowTable) reserve(longest, window int) int {
	switch configured := t.cfg.MaxOutputTokens; {
	case configured == Off:
		return 0
	case configured > 0:
		return min(configured, window/replyDivisor)
	default:
		return min(cmp.Or(longest, defaultReply), window/defaultReplyDivisor)
	}
}

// learn uses the limit that a provider named when it refused a prompt as the context window of a model. The
// table forgets it with the process, or when maxModels other models were used since.
func (t *windowTable) learn(name string, total int) {
	if total <= 0 {
		return
	}
	row, _ := t.cfg.Registry.Lookup(name)
	t.models.Add(name, windows{total: total, reply: t.reserve(row.MaxOutputTokens, total)})
}

// budget returns the budget of a request, without its components.
func (t *windowTable) budget(name string, req *model.LLMRequest) Budget {
	w := t.lookup(name)
	b := Budget{Total: w.total, MaxOutputTokens: w.reply}
	if req != nil && req.Config != nil && req.Config.MaxOutputTokens > 0 {
		b.MaxOutputTokens = min(int(req.Config.MaxOutputTokens), w.total/replyDivisor)
	}
	return b
}

// warnIfAssumed reports that the context window of the caller's model is assumed, once for each model.
func (m *Meter) warnIfAssumed(ctx context.Context, c caller) {
	w := m.windows.lookup(c.model)
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
