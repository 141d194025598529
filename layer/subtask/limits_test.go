package subtask_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

var mainRef = compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "main"}

// restless calls its tool as long as it may, and reports 1,000 tokens in and 100 out for each call.
func restless() *llm {
	return newLLM(small, func(n int, req *model.LLMRequest) *model.LLMResponse {
		resp := call("look", map[string]any{"ask": fmt.Sprint(n)})
		if c := req.Config.ToolConfig; c != nil && c.FunctionCallingConfig.Mode == genai.FunctionCallingConfigModeNone {
			resp = say(fmt.Sprintf("so far %d", n))
		}
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1_000, CandidatesTokenCount: 100}
		return resp
	})
}

func looks(t testing.TB) []tool.Tool {
	return []tool.Tool{function(t, "look", func(_ agent.ToolContext, q question) (map[string]any, error) {
		return map[string]any{"found": q.Ask}, nil
	})}
}

// priceOf is what one call of restless costs.
func priceOf(t testing.TB) tokens.Nano {
	t.Helper()
	m, ok := tokens.Lookup(small)
	if !ok {
		t.Fatal("no prices")
	}
	return m.Nanos(tokens.Usage{PromptTokens: 1_000, OutputTokens: 100})
}

func newGuard(t testing.TB, cfg guard.Config) *guard.Guard {
	t.Helper()
	g, err := guard.New(cfg)
	must(t, err)
	return g
}

// Each limit ends a subtask at the call that reaches it, with an answer from the last call that fits, with the
// app's guard and with none.
func TestALimitEndsASubtaskWithAnAnswer(t *testing.T) {
	t.Parallel()
	price := priceOf(t)
	for _, row := range []struct {
		name  string
		spec  subtask.Spec
		calls int
		kind  guard.Kind
	}{
		{"default", subtask.Spec{}, 5, guard.ModelCalls},
		{"one call", subtask.Spec{MaxTurns: 1}, 1, guard.ModelCalls},
		{"turns", subtask.Spec{MaxTurns: 3}, 3, guard.ModelCalls},
		{"tokens", subtask.Spec{MaxTurns: 50, Tokens: 4_400}, 4, guard.TokenLimit},
		{"money", subtask.Spec{MaxTurns: 50, USD: 4 * price}, 4, guard.CostCeiling},
	} {
		for _, with := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, guard %t", row.name, with), func(t *testing.T) {
				t.Parallel()
				child := restless()
				spec := row.spec
				spec.Message, spec.Tools = "?", looks(t)
				p, a := delegating(t, session.InMemoryService(), child, spec, nil)
				if with {
					g := newGuard(t, guard.Config{})
					p, a = delegating(t, session.InMemoryService(), child, spec, func(cfg *subtask.Config) { cfg.Guard = g })
					p.llm, p.plugins = g.Model(p.llm), []*plugin.Plugin{g.Plugin()}
				}
				p.say("go")
				got := a.only(t)
				if got.Turns > row.calls || got.Turns < row.calls-1 || got.Turns != len(child.seen()) {
					t.Errorf("%d turns, %d model calls; want %d, or one less for the landing", got.Turns, len(child.seen()), row.calls)
				}
				if !got.Truncated || !strings.HasPrefix(got.Text, "[Truncated: ") || !strings.Contains(got.Text, fmt.Sprintf("so far %d", got.Turns-1)) {
					t.Errorf("the text is %q", got.Text)
				}
				if got.Turns == row.calls && (got.Stopped == nil || got.Stopped.Kind != row.kind || got.Stopped.Scope != guard.ScopeSubtask) {
					t.Errorf("stopped by %+v, want %s", got.Stopped, row.kind)
				}
				if got.USD != price*tokens.Nano(got.Turns) || got.Usage != child.used() {
					t.Errorf("it has cost %s for %+v", got.USD, got.Usage)
				}
				if !strings.Contains(child.seen()[got.Turns-1], `"mode":"NONE"`) {
					t.Error("the last call went with tools")
				}
			})
		}
	}
}

// An answer that comes with the last call that is allowed, without tools to miss, is complete.
func TestAnAnswerInOneCallIsComplete(t *testing.T) {
	t.Parallel()
	p, a := delegating(t, session.InMemoryService(), says(small, say("seven")), subtask.Spec{Message: "?", MaxTurns: 1}, nil)
	p.say("go")
	if got := a.only(t); got.Truncated || got.Text != "seven" || got.Turns != 1 {
		t.Errorf("the result is %+v", got)
	}
}

// A budget below the price of one call, of the subtask or of its parent, refuses it before the first.
func TestASubtaskThatCannotPayItsFirstCallDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		spec subtask.Spec
		turn guard.Limits
		kind guard.Kind
	}{
		{name: "own money", spec: subtask.Spec{USD: guard.Dollars(0.0001)}, kind: guard.CostCeiling},
		{name: "own tokens", spec: subtask.Spec{Tokens: 100}, kind: guard.TokenLimit},
		{name: "parent's money", spec: subtask.Spec{USD: tokens.Dollar}, turn: guard.Limits{USD: 100_000}, kind: guard.CostCeiling},
		{name: "parent's tokens", turn: guard.Limits{Tokens: 200}, kind: guard.TokenLimit},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			// The parent's call leaves less than one call of the subtask costs: $0.00009 of $0.0001, 150 of 200 tokens.
			g := newGuard(t, guard.Config{Turn: row.turn, Landing: guard.LandingHard})
			parentLLM := newLLM(small, func(n int, req *model.LLMRequest) *model.LLMResponse {
				resp := say("done")
				if n == 0 {
					resp = call("delegate", map[string]any{"ask": strings.Repeat("a long question ", 60)})
				}
				resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 20, CandidatesTokenCount: 5}
				return resp
			})
			svc, child := session.InMemoryService(), restless()
			var kinds []subtask.Kind
			p, a := delegating(t, svc, child, row.spec, func(cfg *subtask.Config) { cfg.Guard, cfg.Observer = g, observe(&kinds) })
			p.llm, p.plugins = g.Model(parentLLM), []*plugin.Plugin{g.Plugin()}
			_, _ = p.send(t.Context(), genai.NewContentFromText("go", genai.RoleUser))
			if len(a.results) != 1 || a.errs[0] != nil {
				t.Fatalf("results %+v, %v", a.results, a.errs)
			}
			got := a.results[0]
			if !strings.HasPrefix(got.Text, "[Truncated: not run: ") || !got.Truncated || got.Stopped == nil || got.Stopped.Kind != row.kind || got.SessionID != "" || got.Turns != 0 {
				t.Errorf("the result is %+v", got)
			}
			must(t, a.r.Flush(t.Context()))
			if len(child.seen()) != 0 || len(p.children()) != 0 || text(kinds) != "[refused]" {
				t.Errorf("%d calls, sessions %q, observed %v", len(child.seen()), p.children(), kinds)
			}
		})
	}
}

// The bound of a parent's turn ends its subtasks as well, in one ledger: no call starts above it.
func TestTheParentsBoundEndsItsSubtasks(t *testing.T) {
	t.Parallel()
	for _, style := range []guard.StopStyle{guard.AsError, guard.AsEvent} {
		for _, landing := range []guard.LandingMode{guard.LandingSoft, guard.LandingHard} {
			t.Run(string(style)+" "+string(landing), func(t *testing.T) {
				t.Parallel()
				g := newGuard(t, guard.Config{Turn: guard.Limits{ModelCalls: 4}, OnStop: style, Landing: landing})
				child := restless()
				p, a := delegating(t, session.InMemoryService(), child, subtask.Spec{Message: "?", Tools: looks(t), MaxTurns: 50}, func(cfg *subtask.Config) { cfg.Guard = g })
				own := p.llm.(*llm)
				p.llm, p.plugins = g.Model(p.llm), []*plugin.Plugin{g.Plugin()}
				_, _ = p.send(t.Context(), genai.NewContentFromText("go", genai.RoleUser))
				if calls := len(own.seen()) + len(child.seen()); calls != 4 || len(own.seen()) != 1 {
					t.Errorf("%d calls of the parent and %d of the subtask, want 1 and 3", len(own.seen()), len(child.seen()))
				}
				if got := a.results[0]; !got.Truncated || got.Stopped == nil || got.Stopped.Kind != guard.ModelCalls || !strings.HasPrefix(got.Text, "[Truncated: the turn has used 4 model calls of 4") &&
					!strings.HasPrefix(got.Text, "[Truncated: the turn has reached its limit of 4 model calls") {
					t.Errorf("the result is %+v", got)
				}
			})
		}
	}
}

// Every call of a subtask is in its result and in the parent's totals, to the nano-dollar, once, in memory and
// in storage.
func TestEveryCallIsCountedOnce(t *testing.T) {
	t.Parallel()
	for _, store := range storages.All(t) {
		t.Run(store.Name, func(t *testing.T) {
			t.Parallel()
			g := newGuard(t, guard.Config{})
			svc := store.Open(t)
			child := newLLM(small, func(_ int, req *model.LLMRequest) *model.LLMResponse {
				if len(req.Contents) < 5 {
					return call("look", map[string]any{"ask": "x"})
				}
				return say("found " + req.Contents[0].Parts[0].Text)
			})
			p, a := delegating(t, svc, child, subtask.Spec{Tools: looks(t)}, func(cfg *subtask.Config) { cfg.Guard = g })
			args := make([]map[string]any, 6)
			for i := range args {
				args[i] = map[string]any{"ask": fmt.Sprintf("part %d", i)}
			}
			own := once("delegate", args...)
			p.llm, p.plugins = g.Model(own), []*plugin.Plugin{g.Plugin()}
			p.say("go")
			p.say("again")

			var sum tokens.Usage
			var cost tokens.Nano
			turns := 0
			for i, got := range a.results {
				must(t, a.errs[i])
				sum, cost, turns = sum.Add(got.Usage), cost+got.USD, turns+got.Turns
			}
			cheap, _ := tokens.Lookup(small)
			dear, _ := tokens.Lookup(large)
			if sum != child.used() || turns != len(child.seen()) || turns != 2*6*3 || cost != cheap.Nanos(sum) {
				t.Errorf("the results have %d calls, %+v and %s; the model has seen %d, %+v and %s", turns, sum, cost, len(child.seen()), child.used(), cheap.Nanos(child.used()))
			}
			check := func(what string, u guard.Usage) {
				t.Helper()
				all := child.used().Add(own.used())
				if u.ModelCalls != turns+len(own.seen()) || u.Tokens != all || u.USD != cost+dear.Nanos(own.used()) {
					t.Errorf("%s: %d calls, %+v, %s; want %d, %+v, %s", what, u.ModelCalls, u.Tokens, u.USD, turns+len(own.seen()), all, cost+dear.Nanos(own.used()))
				}
				if s := u.Subtasks; s.Count != 12 || s.ModelCalls != turns || s.Tokens != sum || s.USD != cost {
					t.Errorf("%s: the subtasks are %+v, want 12, %d, %+v, %s", what, s, turns, sum, cost)
				}
			}
			u, err := g.Usage(t.Context(), svc, mainRef)
			must(t, err)
			check("guard", u)
			stored, ok := guard.Stored(p.get("main"))
			if !ok {
				t.Fatal("nothing is stored")
			}
			check("stored", stored)
			again, err := newGuard(t, guard.Config{}).Usage(t.Context(), store.Open(t), mainRef)
			must(t, err)
			check("another process", again)
		})
	}
}

// A failed call costs nothing, and what was used before it counts.
func TestAFailedSubtaskIsPaidForToo(t *testing.T) {
	t.Parallel()
	g := newGuard(t, guard.Config{})
	child := newLLM(small, func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n > 0 {
			return nil
		}
		return call("look", map[string]any{"ask": "x"})
	})
	svc := session.InMemoryService()
	p, a := delegating(t, svc, child, subtask.Spec{Message: "?", Tools: looks(t)}, func(cfg *subtask.Config) { cfg.Guard = g })
	p.llm, p.plugins = g.Model(p.llm), []*plugin.Plugin{g.Plugin()}
	p.say("go")
	got := a.only(t)
	u, err := g.Usage(t.Context(), svc, mainRef)
	must(t, err)
	if got.Turns != 1 || got.Usage != child.used() || got.USD == 0 || u.Subtasks.USD != got.USD {
		t.Errorf("the result is %+v, the parent's total %+v", got, u.Subtasks)
	}
}

// A model without prices is said to have none.
func TestAnUnpricedModelIsSaid(t *testing.T) {
	t.Parallel()
	p, a := delegating(t, session.InMemoryService(), says("own-model", say("fine")), subtask.Spec{Message: "?", USD: guard.Dollars(0.0001)}, nil)
	p.say("go")
	got := a.only(t)
	wrapped, err := a.r.Wrappers(readFile(t, nil))
	must(t, err)
	p.tools, p.llm = wrapped, once(subtask.ReadFileName, map[string]any{"path": "x", "question": "?"})
	digest := responseOf(t, p.say("go"), subtask.ReadFileName)
	if !got.Unpriced || got.Text != "fine" || !strings.HasSuffix(text(digest["usage"]), ", unpriced") {
		t.Errorf("the result is %+v, the digest %v", got, digest)
	}
}

// A time limit ends a call that hangs, and keeps what has arrived.
func TestAReplyThatHangsIsCut(t *testing.T) {
	t.Parallel()
	p, a := delegating(t, session.InMemoryService(), stalling{}, subtask.Spec{Message: "?", Wall: 50 * time.Millisecond}, func(cfg *subtask.Config) { cfg.Stream = true })
	p.say("go")
	got := a.only(t)
	if got.Stopped == nil || got.Stopped.Kind != guard.WallTime || !strings.HasPrefix(got.Text, "[Truncated: the subtask has ") || !strings.Contains(got.Text, "the first half") {
		t.Errorf("the result is %+v", got)
	}
	if !slices.Contains(p.children(), got.SessionID) {
		t.Errorf("the session %q is not there", got.SessionID)
	}
}
