// Package window is the only place that decides how much of a model's context window a request may take
// up.
package window

import (
	"cmp"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// Off as Config.MaxOutputTokens reserves only what a request asks for.
const Off = -1

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

// maxModels is how many models a table remembers.
const maxModels = 256

// Config is what the app knows about windows, all sizes in tokens. The zero value works for every model.
type Config struct {
	Registry        *tokens.Registry // nil is the built-in table
	ContextWindow   int              // 0 is the window in Registry, else tokens.DefaultContextWindow
	MaxOutputTokens int              // 0 is the default reserve
}

// Window is the context window of a model, in tokens.
type Window struct {
	Total   int  // of prompt and reply together
	Reply   int  // reserved for the reply
	Assumed bool // neither the config nor the registry has the window
}

// Effective is how much a prompt may take up.
func (w Window) Effective() int { return w.Total - w.Reply }

// Table has the context windows of models. It is safe for concurrent use.
type Table struct {
	cfg    Config
	models *lru.Cache[string, Window]
}

// New returns a table.
func New(cfg Config) *Table {
	models, _ := lru.New[string, Window](maxModels) // fails only for a size that is not positive
	return &Table{cfg, models}
}

// ModelOf is the name of the model that a request goes to: the request's own, else that of the model that is
// called.
func ModelOf(name string, req *model.LLMRequest) string {
	if req != nil {
		return cmp.Or(req.Model, name)
	}
	return name
}

// Of returns the window of a model, for a request that sets no limit of its own.
func (t *Table) Of(name string) Window {
	if w, known := t.models.Get(name); known {
		return w
	}
	row, _ := t.cfg.Registry.Lookup(name)
	total, known := t.cfg.Registry.Window(name)
	w := Window{Total: cmp.Or(t.cfg.ContextWindow, total), Assumed: t.cfg.ContextWindow == 0 && !known}
	w.Reply = t.reserve(row.MaxOutputTokens, w.Total)
	t.models.Add(name, w)
	return w
}

// For returns the window of a model for a request, which may set a limit for its reply.
func (t *Table) For(name string, req *model.LLMRequest) Window {
	w := t.Of(name)
	if req != nil && req.Config != nil && req.Config.MaxOutputTokens > 0 {
		w.Reply = min(int(req.Config.MaxOutputTokens), w.Total/replyDivisor)
	}
	return w
}

// reserve is the part of a window that is reserved for the reply if the request sets no limit. The argument
// longest is the longest reply of the model, 0 if unknown.
func (t *Table) reserve(longest, window int) int {
	switch configured := t.cfg.MaxOutputTokens; {
	case configured == Off:
		return 0
	case configured > 0:
		return min(configured, window/replyDivisor)
	default:
		return min(cmp.Or(longest, defaultReply), window/defaultReplyDivisor)
	}
}

// Learn uses the limit that a provider named when it refused a prompt as the context window of a model. The
// table forgets it with the process, or when many other models were used since.
func (t *Table) Learn(name string, total int) {
	if total <= 0 {
		return
	}
	row, _ := t.cfg.Registry.Lookup(name)
	t.models.Add(name, Window{Total: total, Reply: t.reserve(row.MaxOutputTokens, total)})
}

// Len is how many models the table remembers.
func (t *Table) Len() int { return t.models.Len() }
