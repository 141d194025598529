package toolsearch_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// run is the context of a run, as far as toolsets look at it.
type run struct {
	context.Context
	user string
}

func (run) UserContent() *genai.Content          { return nil }
func (run) InvocationID() string                 { return "inv" }
func (run) AgentName() string                    { return "agent" }
func (run) ReadonlyState() session.ReadonlyState { return nil }
func (r run) UserID() string                     { return r.user }
func (run) AppName() string                      { return "app" }
func (run) SessionID() string                    { return "s" }
func (run) Branch() string                       { return "" }

// toolset calls a function for its list.
type toolset func(ctx agent.ReadonlyContext) ([]tool.Tool, error)

func (toolset) Name() string                                            { return "server" }
func (ts toolset) Tools(ctx agent.ReadonlyContext) ([]tool.Tool, error) { return ts(ctx) }

// idle is a tool that can only be listed.
type idle string

func (n idle) Name() string      { return string(n) }
func (idle) Description() string { return "Does nothing." }
func (idle) IsLongRunning() bool { return true }

// fn is a tool that ADK can run.
type fn struct {
	idle
	do func(ctx agent.ToolContext) (map[string]any, error)
}

func (f fn) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: f.Name()}
}

func (f fn) Run(ctx agent.ToolContext, _ any) (map[string]any, error) { return f.do(ctx) }

func listed(names ...string) ([]tool.Tool, error) {
	var tools []tool.Tool
	for _, name := range names {
		tools = append(tools, fn{idle: idle(name)})
	}
	return tools, nil
}

// watch collects observations.
type watch struct {
	mu   sync.Mutex
	seen []toolsearch.Observation
}

func (w *watch) Observe(_ context.Context, o toolsearch.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

// kinds waits for the observations and returns their kinds.
func (w *watch) kinds(t *testing.T, g *toolsearch.Grouped) []toolsearch.Kind {
	t.Helper()
	if err := g.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var kinds []toolsearch.Kind
	for _, o := range w.seen {
		if o.Toolset != "server" || o.Agent != "agent" || o.Session.SessionID != "s" {
			t.Errorf("an observation does not say where it is from: %+v", o)
		}
		kinds = append(kinds, o.Kind)
	}
	return kinds
}

func group(t *testing.T, cfg toolsearch.GroupConfig) *toolsearch.Grouped {
	t.Helper()
	if cfg.Category == "" {
		cfg.Category = toolsearch.MCP
	}
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	g, err := toolsearch.NewGroup(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func names(t *testing.T, ts tool.Toolset, ctx agent.ReadonlyContext) []string {
	t.Helper()
	tools, err := ts.Tools(ctx)
	if err != nil {
		t.Fatalf("the toolset fails, which ends the turn: %v", err)
	}
	var names []string
	for _, one := range tools {
		names = append(names, one.Name())
	}
	return names
}

func TestAToolsetThatFailsKeepsItsLastGoodList(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(ctx context.Context) ([]tool.Tool, error){
		"error":            func(context.Context) ([]tool.Tool, error) { return nil, errors.New("down") },
		"panic":            func(context.Context) ([]tool.Tool, error) { panic("down") },
		"nil panic":        func(context.Context) ([]tool.Tool, error) { panic(nil) },
		"end of goroutine": func(context.Context) ([]tool.Tool, error) { runtime.Goexit(); return nil, nil },
		"hang":             func(ctx context.Context) ([]tool.Tool, error) { <-ctx.Done(); return nil, ctx.Err() },
		"panic in a name":  func(context.Context) ([]tool.Tool, error) { return []tool.Tool{(*fn)(nil), rude{}}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, calls, seen := true, 0, &watch{}
			ts := toolset(func(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
				calls++ // one call at a time
				if bad {
					return fail(ctx)
				}
				return listed("a", "b")
			})
			g := group(t, toolsearch.GroupConfig{Toolset: ts, Timeout: 20 * time.Millisecond, Observer: seen.Observe})
			ctx := run{Context: t.Context()}
			step := func(now bool, want ...string) {
				t.Helper()
				for range 3 {
					bad = now
					if got := names(t, g, ctx); !slices.Equal(got, want) {
						t.Errorf("got %v, want %v", got, want)
					}
					toolsearch.WaitForList(g, ctx)
				}
			}
			step(true)
			step(false, "a", "b")
			step(true, "a", "b")
			step(false, "a", "b")
			want := []toolsearch.Kind{toolsearch.ToolsetFailed, toolsearch.ToolsetRestored, toolsearch.ToolsetFailed, toolsearch.ToolsetRestored}
			if got := seen.kinds(t, g); !slices.Equal(got, want) {
				t.Errorf("observed %v, want %v", got, want)
			}
			if calls != 12 {
				t.Errorf("the toolset was asked %d times in 12 runs", calls)
			}
		})
	}
}

// rude is a tool that panics whatever one asks.
type rude struct{ tool.Tool }

// A toolset that ignores its context hangs in one goroutine, however many runs begin meanwhile.
func TestAtMostOneCallForAListHangs(t *testing.T) {
	t.Parallel()
	release, calls := make(chan struct{}), make(chan int, 100)
	ts := toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) {
		calls <- 1
		<-release
		return listed("late")
	})
	seen := &watch{}
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Timeout: time.Millisecond, Observer: seen.Observe})
	ctx := run{Context: t.Context()}
	var runs sync.WaitGroup
	for range 20 {
		runs.Go(func() { names(t, g, ctx) })
	}
	runs.Wait()
	<-calls
	if len(calls) > 0 {
		t.Errorf("%d more calls hang", len(calls))
	}
	close(release)
	toolsearch.WaitForList(g, ctx)
	g2 := names(t, g, ctx)
	if !slices.Equal(g2, []string{"late"}) {
		t.Errorf("the late list is lost: %v", g2)
	}
	if got := seen.kinds(t, g); !slices.Equal(got, []toolsearch.Kind{toolsearch.ToolsetFailed, toolsearch.ToolsetRestored}) {
		t.Errorf("observed %v", got)
	}
}

// A run that is canceled neither waits for a list nor takes the list away from others.
func TestACanceledRunDoesNotCancelTheList(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	ts := toolset(func(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
		close(begun)
		select {
		case <-release:
			return listed("a")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	seen := &watch{}
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Timeout: time.Hour, Observer: seen.Observe})
	canceled, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if got := names(t, g, run{Context: canceled}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	close(release)
	toolsearch.WaitForList(g, run{Context: t.Context()})
	if got := seen.kinds(t, g); len(got) != 0 {
		t.Errorf("observed %v", got)
	}
}

func TestTheListHasOneOrderAndEachNameOnce(t *testing.T) {
	t.Parallel()
	ts := toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) {
		return append([]tool.Tool{nil, fn{idle: ""}}, fn{idle: "b"}, fn{idle: "a"}, idle("b"), fn{idle: "c"}), nil
	})
	seen := &watch{}
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Observer: seen.Observe})
	for range 2 {
		if got := names(t, g, run{Context: t.Context()}); !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("got %v", got)
		}
	}
	if got := seen.kinds(t, g); !slices.Equal(got, []toolsearch.Kind{toolsearch.ToolLeftOut}) {
		t.Errorf("observed %v", got)
	}
	tools, _ := g.Tools(run{Context: t.Context()})
	_ = append(tools[:1], nil) // the slice is the caller's
	if got := names(t, g, run{Context: t.Context()}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("got %v after a caller changed its slice", got)
	}
}

func TestAListIsSharedWithinItsScopeOnly(t *testing.T) {
	t.Parallel()
	down := false
	ts := toolset(func(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
		if down {
			return nil, errors.New("down")
		}
		return listed(ctx.UserID())
	})
	scope := func(ctx agent.ReadonlyContext) string {
		if ctx.UserID() == "odd" {
			panic("odd")
		}
		return ctx.UserID()
	}
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Scope: scope})
	ann, bob, odd := run{t.Context(), "ann"}, run{t.Context(), "bob"}, run{t.Context(), "odd"}
	if got := append(names(t, g, ann), names(t, g, odd)...); !slices.Equal(got, []string{"ann", "odd"}) {
		t.Errorf("got %v", got)
	}
	down = true
	if got := names(t, g, ann); !slices.Equal(got, []string{"ann"}) {
		t.Errorf("the list of ann is lost: %v", got)
	}
	if got := names(t, g, bob); len(got) != 0 {
		t.Errorf("bob has the tools of somebody else: %v", got)
	}
}

func TestAGroupRefusesABadConfig(t *testing.T) {
	t.Parallel()
	_, err := toolsearch.NewGroup(toolsearch.GroupConfig{Category: "mpc", Timeout: -1, CallTimeout: -2})
	var fields []string
	if joined, ok := errors.Unwrap(err).(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			var problem *toolsearch.ConfigError
			if errors.As(one, &problem) {
				fields = append(fields, problem.Field)
			}
		}
	}
	if !slices.Equal(fields, []string{"Category", "Toolset", "Timeout", "CallTimeout"}) {
		t.Errorf("got %v", err)
	}
	if got := names(t, toolsearch.Group(toolsearch.MCP, nil), run{Context: t.Context()}); len(got) != 0 {
		t.Errorf("no toolset has %v", got)
	}
}

// Methods that ADK looks for, besides those of fn.
type (
	streams  struct{}
	declares struct{}
	shows    struct{}
	packs    struct{}
)

func (streams) RunStream(agent.ToolContext, any) iter.Seq2[string, error] { return nil }

func (declares) Declaration() *genai.FunctionDeclaration { return nil }

func (shows) DisplayResultOnSkipSummarization() bool { return true }

func (packs) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	req.Tools["t"] = "itself"
	return nil
}

// What ADK looks for.
type (
	runner interface {
		Run(ctx agent.ToolContext, args any) (map[string]any, error)
	}
	streamer interface {
		RunStream(ctx agent.ToolContext, args any) iter.Seq2[string, error]
	}
	declarer interface {
		Declaration() *genai.FunctionDeclaration
	}
	displayer        interface{ DisplayResultOnSkipSummarization() bool }
	requestProcessor interface {
		ProcessRequest(ctx agent.ToolContext, req *model.LLMRequest) error
	}
)

// asked is what ADK finds out about a tool.
func asked(t tool.Tool) [4]bool {
	_, runs := t.(runner)
	_, streams := t.(streamer)
	_, declares := t.(declarer)
	d, displays := t.(displayer)
	return [4]bool{runs, streams, declares, displays && d.DisplayResultOnSkipSummarization()}
}

func TestAGroupedToolShowsWhatADKAsksOfATool(t *testing.T) {
	t.Parallel()
	type stream struct {
		idle
		declares
		streams
	}
	for name, inner := range map[string]tool.Tool{
		"plain":    idle("t"),
		"function": fn{idle: "t"},
		"stream":   stream{idle: "t"},
		"both": struct {
			fn
			streams
		}{fn: fn{idle: "t"}},
		"function that is shown": struct {
			fn
			shows
		}{fn: fn{idle: "t"}},
		"function that packs itself": struct {
			fn
			packs
		}{fn: fn{idle: "t"}},
		"tool that changes requests": struct {
			idle
			packs
		}{idle: "t"},
	} {
		g := group(t, toolsearch.GroupConfig{Toolset: toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) { return []tool.Tool{inner}, nil })})
		tools, _ := g.Tools(run{Context: t.Context()})
		got := tools[0]
		if category := got.(toolsearch.Categorized).Category(); category != toolsearch.MCP {
			t.Errorf("%s: category %q", name, category)
		}
		if got.Name() != "t" || got.Description() != "Does nothing." || !got.IsLongRunning() {
			t.Errorf("%s: %q, %q", name, got.Name(), got.Description())
		}
		if asked(got) != asked(inner) {
			t.Errorf("%s: ADK finds %v, without the group %v", name, asked(got), asked(inner))
		}
		req := &model.LLMRequest{Tools: map[string]any{}}
		if err := got.(requestProcessor).ProcessRequest(nil, req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := inner.(declarer); ok && req.Tools["t"] != any(got) {
			t.Errorf("%s: calls go to %v", name, req.Tools["t"])
		}
	}
}

// twin is a toolset that changes requests itself, as the skill toolset of ADK does.
type twin struct {
	toolset
	process func() error
}

func (t twin) ProcessRequest(_ agent.ToolContext, req *model.LLMRequest) error {
	req.Model = "changed"
	return t.process()
}

func TestAToolsetThatFailsInARequestIsReportedOnce(t *testing.T) {
	t.Parallel()
	var process func() error
	seen := &watch{}
	ts := twin{func(agent.ReadonlyContext) ([]tool.Tool, error) { return nil, nil }, func() error { return process() }}
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Observer: seen.Observe})
	ctx := call{ctx: t.Context(), run: run{Context: t.Context()}}
	for _, f := range []func() error{
		func() error { return nil },
		func() error { return errors.New("no skills today") },
		func() error { panic("no skills today") },
		func() error { return nil },
	} {
		process = f
		for range 2 {
			req := &model.LLMRequest{}
			if err := g.ProcessRequest(ctx, req); err != nil || req.Model != "changed" {
				t.Errorf("the request is %q, and the turn ends with %v", req.Model, err)
			}
		}
	}
	if got := seen.kinds(t, g); !slices.Equal(got, []toolsearch.Kind{toolsearch.ToolsetFailed, toolsearch.ToolsetRestored}) {
		t.Errorf("observed %v", got)
	}
	bare := group(t, toolsearch.GroupConfig{Toolset: ts.toolset})
	if err := bare.ProcessRequest(ctx, nil); err != nil {
		t.Errorf("a toolset that changes no request: %v", err)
	}
}

func TestAToolThatCannotBeOfferedIsLeftOut(t *testing.T) {
	t.Parallel()
	seen := &watch{}
	ts := toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) {
		return []tool.Tool{fn{idle: "free"}, fn{idle: "taken"}, idle("useless"), struct {
			idle
			bursts
		}{idle: "bursts"}}, nil
	})
	g := group(t, toolsearch.GroupConfig{Toolset: ts, Observer: seen.Observe})
	tools, _ := g.Tools(run{Context: t.Context()})
	for range 2 {
		req := &model.LLMRequest{Tools: map[string]any{"taken": "by the app"}}
		for _, one := range tools {
			if err := one.(requestProcessor).ProcessRequest(call{ctx: t.Context(), run: run{Context: t.Context()}}, req); err != nil {
				t.Errorf("the turn ends: %v", err)
			}
		}
		decls := req.Config.Tools[0].FunctionDeclarations
		if len(decls) != 1 || decls[0].Name != "free" || req.Tools["taken"] != "by the app" || len(req.Tools) != 2 {
			t.Errorf("declared %v of %v", decls, req.Tools)
		}
	}
	want := []toolsearch.Kind{toolsearch.ToolLeftOut, toolsearch.ToolLeftOut, toolsearch.ToolLeftOut}
	if got := seen.kinds(t, g); !slices.Equal(got, want) {
		t.Errorf("observed %v, want %v", got, want)
	}
}

type bursts struct{}

func (bursts) ProcessRequest(agent.ToolContext, *model.LLMRequest) error { panic("no") }

func TestALimitMayBeAsLongAsADurationCan(t *testing.T) {
	t.Parallel()
	g := must(toolsearch.NewGroup(toolsearch.GroupConfig{
		Category: toolsearch.MCP, Timeout: math.MaxInt64, CallTimeout: math.MaxInt64,
		Toolset: toolset(func(ctx agent.ReadonlyContext) ([]tool.Tool, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return listed("a")
		}),
	}))(t)
	if tools, err := g.Tools(run{t.Context(), "u"}); err != nil || len(tools) != 1 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}
