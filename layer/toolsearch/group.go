package toolsearch

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/survive"
)

// Group returns the toolset with a category for its tools, and keeps it from ending turns: ADK ends a turn
// with the error of a toolset, so an MCP server that is down would take every turn along. It is
// [NewGroup] with the defaults. If ts is nil, the result has no tools.
//
//	Toolsets: []tool.Toolset{toolsearch.Group(toolsearch.MCP, github)}
func Group(category Category, ts tool.Toolset) tool.Toolset {
	return newGrouped(GroupConfig{Category: category, Toolset: ts}.withDefaults())
}

// NewGroup is [Group] with settings. It returns every problem of the config, joined.
func NewGroup(cfg GroupConfig) (*Grouped, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return newGrouped(cfg.withDefaults()), nil
}

var _ tool.Toolset = (*Grouped)(nil)

// Grouped is a toolset whose tools have a category, and that answers even if the toolset inside fails,
// hangs or panics. It is safe for concurrent use.
//
// Its list is sorted by name, without tools that have no name and without the second of two tools of one
// name. Many servers list their tools in another order each time, and each order is another prompt to the
// provider's cache.
//
// If the toolset inside has no answer within [GroupConfig].Timeout, or answers with an error, the last good
// list is returned, and an empty one if there was none. The toolset is asked again for the next run. Each
// change from good to bad and back is reported once.
//
// A toolset that is not grouped remains between the app and ADK: its error ends the turn, and if it hangs, so
// does the turn.
type Grouped struct {
	cfg    GroupConfig
	outbox outbox.Observations[Observation]
	logger survive.Places // where a panic of the logger itself ends; it is told to the default one

	mu         sync.Mutex
	lists      *lru.Cache[string, *toolList] // by GroupConfig.Scope
	leftOut    map[string]bool               // names of tools that were reported as left out
	processing bool                          // the last ProcessRequest of the toolset inside succeeded
}

// maxScopes bounds the lists that are kept. The oldest one is forgotten first.
const maxScopes = 1_024

func newGrouped(cfg GroupConfig) *Grouped {
	lists, err := lru.New[string, *toolList](maxScopes)
	if err != nil {
		panic(err) // only for a size of 0
	}
	return &Grouped{cfg: cfg, lists: lists, leftOut: map[string]bool{}, processing: true}
}

// Name returns the name of the toolset inside.
func (g *Grouped) Name() (name string) {
	defer survive.Else("toolsearch: the name of a toolset", func() { name = "toolset" })
	if adk.IsNil(g.cfg.Toolset) {
		return "none"
	}
	return g.cfg.Toolset.Name()
}

// Unwrap returns the toolset inside.
func (g *Grouped) Unwrap() tool.Toolset { return g.cfg.Toolset }

// Tools returns the tools of the toolset inside, or its last good list. The error is always nil. The slice
// is the caller's.
func (g *Grouped) Tools(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
	if adk.IsNil(g.cfg.Toolset) {
		return nil, nil
	}
	return g.list(ctx).tools(ctx, g), nil
}

// list returns the list of the context's scope.
func (g *Grouped) list(ctx agent.ReadonlyContext) *toolList {
	scope := g.scope(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	if l, ok := g.lists.Get(scope); ok {
		return l
	}
	l := &toolList{good: true}
	g.lists.Add(scope, l)
	return l
}

// scope asks the app for the scope. A function that panics gets a list that nobody else sees.
func (g *Grouped) scope(ctx agent.ReadonlyContext) (scope string) {
	if g.cfg.Scope == nil {
		return ""
	}
	defer survive.Else("toolsearch: GroupConfig.Scope", func() { scope = "panic in " + ctx.SessionID() })
	return g.cfg.Scope(ctx)
}

// ProcessRequest has the toolset inside change the request, if it does so: ADK looks for this method, and
// the skill toolset writes its list of skills here. An error or a panic of it is reported once, and the
// request goes on. A toolset that hangs here hangs the turn, because it works on the request itself.
func (g *Grouped) ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error {
	processor, ok := g.cfg.Toolset.(requestProcessor)
	if !ok || adk.IsNil(g.cfg.Toolset) {
		return nil
	}
	err := caught(func() error { return processor.ProcessRequest(ctx, req) })
	g.mu.Lock()
	changed := g.processing != (err == nil)
	g.processing = err == nil
	g.mu.Unlock()
	switch {
	case !changed:
	case err == nil:
		g.observe(ctx, Observation{Kind: ToolsetRestored, Reason: "its part in requests is written again"})
	default:
		g.observe(ctx, Observation{Kind: ToolsetFailed, Reason: "its part in this request is missing", Err: err})
	}
	return nil
}

// caught calls f and returns a panic as an error.
func caught(f func() error) (err error) {
	finished := false
	defer func() {
		if !finished {
			err = fmt.Errorf("panic: %v", recover())
		}
	}()
	err = f()
	finished = true
	return err
}

// Flush waits until the observer has received all observations so far. It returns only the context's error.
func (g *Grouped) Flush(ctx context.Context) error { return g.outbox.Flush(ctx) }
