package integration_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// withCatalog gives each agent 200 tools like those of MCP servers, and has each model use them.
func withCatalog(a *toolApp) {
	before := a.more
	a.more = func(cfg *llmagent.Config) {
		if before != nil {
			before(cfg)
		}
		tools := a.catalogTools(200)
		cfg.Tools = append(cfg.Tools, tools...)
		for _, w := range a.workers {
			if w.name == cfg.Name {
				w.seek = over(tools)
			}
		}
	}
}

// sought adds up what all models of an app have done with the tools of the catalog.
func (a *toolApp) sought() (sum seeker) {
	for _, w := range a.workers {
		if w.seek != nil {
			sum.direct += w.seek.direct
			sum.searched += w.seek.searched
			sum.bridged += w.seek.bridged
		}
	}
	return sum
}

// In every shape, a model finds each of 200 tools that are not declared, and calls it in the very next step.
// Every request is one that a strict provider accepts, in a window that the declarations alone would nearly
// fill.
func TestToolsAreFoundAndRunInEveryShape(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, _ shape, newApp func(func(*toolApp)) *toolApp) {
		a := newApp(withCatalog)
		a.play(4)
		before := a.sought()
		a.reopen()
		a.play(4)
		after := a.sought()
		if n := before.bridged + after.bridged + before.direct + after.direct; int(a.seen.catalogRuns.Load()) != n || before.bridged == 0 || after.bridged == 0 {
			t.Errorf("%d tools ran, of %+v and then %+v", a.seen.catalogRuns.Load(), before, after)
		}
	})
}

// declared returns the size of the declarations of a request, in tokens.
func declared(req *model.LLMRequest) int {
	size, _ := promptsize.OfTools(req.Config.Tools)
	return size
}

// spy collects what the layers report.
type spy struct {
	mu        sync.Mutex
	sent      []budget.Observation
	causes    map[string]int // of prefix breaks, with their section
	deferrals []toolsearch.Observation
}

func (s *spy) on(a *toolApp) {
	s.causes = map[string]int{}
	a.cfg.Budget.Observer = func(_ context.Context, o budget.Observation) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch o.Kind {
		case budget.Sent:
			s.sent = append(s.sent, o)
		case budget.PrefixBroken:
			s.causes[strings.TrimSpace(string(o.Break.Cause)+" "+o.Break.Section)]++
		}
	}
	a.cfg.ToolSearch.Observer = func(_ context.Context, o toolsearch.Observation) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.deferrals = append(s.deferrals, o)
	}
}

// Sizes are those of what is sent: the budget's part of the tools, what compaction knows of an agent, and what
// the observer is told.
func TestSizesAreThoseAfterDeferral(t *testing.T) {
	t.Parallel()
	var s spy
	var sizes []int
	a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
		withCatalog(a)
		s.on(a)
		a.window = 64_000
	})
	w := a.workers[0]
	w.silent = true
	w.each = func(req *model.LLMRequest) { sizes = append(sizes, declared(req)) }
	a.play(4)
	status, err := a.stack.Sessions.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.stack.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != len(sizes) {
		t.Fatalf("%d requests were reported, %d sent", len(s.sent), len(sizes))
	}
	for i, o := range s.sent {
		if o.Budget.ToolDescriptions != sizes[i] {
			t.Errorf("request %d: the budget counts %d tokens of tools, and %d were sent", i, o.Budget.ToolDescriptions, sizes[i])
		}
		if limit := int(0.10 * float64(o.Budget.EffectiveWindow())); sizes[i] > limit+3_000 {
			t.Errorf("request %d: %d tokens of tools were sent, and a tenth of the window is %d", i, sizes[i], limit)
		}
	}
	last := s.sent[len(s.sent)-1].Budget
	if most := last.UsedTokens() + last.UsedTokens()/5; status.PromptTokens > most {
		t.Errorf("compaction counts %d tokens in the prompt, and %d were sent", status.PromptTokens, last.UsedTokens())
	}
	all := 0
	for _, t := range w.seek.tools {
		of, _ := promptsize.OfTools([]*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{t.declaration}}})
		all += of
	}
	if 5*sizes[0] > all {
		t.Errorf("%d of %d tokens of declarations are left: less than 80%% was saved", sizes[0], all)
	}
	if len(s.deferrals) == 0 {
		t.Error("nobody was told that tools are deferred")
	}
}

// A callback of the app runs as often with deferred tools as without any layer, if the model calls the same
// tools.
func TestCallbacksRunAsOftenWithDeferredTools(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, _ shape, newApp func(func(*toolApp)) *toolApp) {
		counts := map[bool]map[string]int{}
		for _, bare := range []bool{true, false} {
			var c tally
			a := newApp(func(a *toolApp) {
				a.bare, a.window = bare, 100_000 // with less room a request may be rebuilt
				a.cfg.Compaction.SafetyRatio = compaction.Off
				a.plugins = []*plugin.Plugin{c.plugin(t, "first"), c.plugin(t, "second")}
				a.more = c.agent
				withCatalog(a)
			})
			for _, w := range a.workers {
				w.reads, w.unknown = false, true
				w.seek.byName = true
			}
			a.play(3)
			counts[bare] = c.n
			if a.seen.catalogRuns.Load() == 0 {
				t.Error("no tool of the catalog was called")
			}
		}
		if diff := cmp.Diff(counts[true], counts[false]); diff != "" {
			t.Errorf("callbacks (-without the stack +with it):\n%s", diff)
		}
	})
}

// A session that two processes serve in turn gets the same requests, byte for byte, as one that a single
// process serves.
func TestTwoProcessesInTurnSendTheSameBytes(t *testing.T) {
	t.Parallel()
	requests := map[bool][]string{}
	for _, restarts := range []bool{false, true} {
		a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
			withCatalog(a)
			// What a process has learned of the provider's counts decides when the use of the window has
			// consequences. By turns, all compact at the same events.
			a.cfg.Compaction.SafetyRatio, a.cfg.Budget.Thresholds.Note = compaction.Off, compaction.Off
			a.cfg.Prompt = prompt.Config{Project: prompt.Text("Write tests first."), Scratchpad: prompt.Text("Step 1 of 3."), Status: prompt.Text("All is well.")}
			a.cfg.Masking = toolresult.Masking{KeepFirst: 1, KeepLast: 2, BatchTokens: 1_500}
			a.window, a.cfg.ToolSearch.Threshold = 200_000, 0.03
		})
		for range 20 {
			if restarts {
				before := a.workers[0]
				a.reopen()
				w := a.workers[0]
				w.next, w.seek.next = before.next, before.seek.next
			}
			a.play(1)
		}
		requests[restarts] = a.seen.requests
		if n := a.summaries(); n == 0 {
			t.Error("no summary was written: the test shows too little")
		}
	}
	if diff := cmp.Diff(requests[false], requests[true]); diff != "" {
		t.Errorf("requests (-of one process +of two in turn):\n%.3000s", diff)
	}
}

// A request that is built again after a compaction is deferred like any other.
func TestARebuiltRequestIsDeferred(t *testing.T) {
	t.Parallel()
	rebuilt := 0
	var most int
	a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
		withCatalog(a)
		a.window = 16_000
		a.cfg.Compaction.InvocationThreshold, a.cfg.Compaction.SafetyRatio = compaction.Off, compaction.Off
		a.cfg.ToolResults.StubAbove, a.cfg.ToolResults.MaxTokens = toolresult.Off, 3_000
		a.cfg.Masking = toolresult.Masking{KeepFirst: toolresult.Off, KeepLast: toolresult.Off}
		a.cfg.Budget.Observer = func(_ context.Context, o budget.Observation) {
			if o.Kind == budget.Rebuilt {
				rebuilt++
			}
		}
	})
	w := a.workers[0]
	w.reads = false
	w.each = func(req *model.LLMRequest) { most = max(most, declared(req)) }
	a.play(10)
	if err := a.stack.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rebuilt == 0 {
		t.Error("no request was built again: the test shows nothing")
	}
	if most > 4_000 {
		t.Errorf("a request declares tools of %d tokens", most)
	}
}

// One layer alone works as it does with the others.
func TestToolSearchWorksWithoutTheOtherLayers(t *testing.T) {
	t.Parallel()
	for name, disable := range map[string][]longsession.Layer{
		"without the budget":      {longsession.LayerBudget},
		"without tool results":    {longsession.LayerToolResults},
		"without the prompt":      {longsession.LayerPrompt},
		"without any other layer": {longsession.LayerBudget, longsession.LayerToolResults, longsession.LayerPrompt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newToolApp(t, inMemory(t), single, func(a *toolApp) {
				withCatalog(a)
				a.cfg.Disable = disable
				a.window = 200_000
				a.cfg.ToolSearch.Threshold = 0.01
			})
			a.workers[0].reads = !slices.Contains(disable, longsession.LayerToolResults)
			a.play(3)
			if did := a.sought(); did.bridged == 0 {
				t.Errorf("nothing was deferred: %+v", did)
			}
		})
	}
}

// Without tools to defer, tool search leaves no trace in any request.
func TestToolSearchWithNothingToDeferChangesNoRequest(t *testing.T) {
	t.Parallel()
	eachShape(t, inMemory, func(t *testing.T, s shape, newApp func(func(*toolApp)) *toolApp) {
		requests := map[bool][]string{}
		for _, searches := range []bool{true, false} {
			a := newApp(func(a *toolApp) {
				a.window = 1_000_000
				a.cfg.Compaction.InvocationThreshold = compaction.Off
				if !searches {
					a.cfg.Disable = []longsession.Layer{longsession.LayerToolSearch, longsession.LayerPrompt}
				}
			})
			a.play(3)
			requests[searches] = slices.Sorted(slices.Values(a.seen.requests))
		}
		if diff := cmp.Diff(requests[false], requests[true]); diff != "" {
			t.Errorf("requests (-without tool search +with it):\n%.2000s", diff)
		}
	})
}
