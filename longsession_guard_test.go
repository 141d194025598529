package longsession_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/tokens"
)

var desk = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "desk"}

// billed is a model that answers as its function does, and reports 1,000 prompt and 100 output tokens a call:
// 550,000 Nano on gemini-2.5-flash.
func billed(name string, answer func(n int, req *model.LLMRequest) *model.LLMResponse) *compactiontest.Model {
	return compactiontest.NewModel(name, func(n int, req *model.LLMRequest) *model.LLMResponse {
		resp := answer(n, req)
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 1_000, CandidatesTokenCount: 100}
		return resp
	})
}

const perCall tokens.Nano = 550_000

// ask runs a turn and returns the error that ended it.
func ask(t *testing.T, stack *longsession.Stack, llm model.LLM, tools ...tool.Tool) error {
	t.Helper()
	root, err := llmagent.New(llmagent.Config{Name: "desk", Model: stack.Model(llm), Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// again is a tool without any effect.
func again(t *testing.T) tool.Tool {
	t.Helper()
	count := 0
	noted, err := functiontool.New(functiontool.Config{Name: "again", Description: "Goes on."}, func(agent.ToolContext, struct {
		N int `json:"n"`
	}) (map[string]any, error) {
		count++
		return map[string]any{"step": count}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return noted
}

// endless calls the tool for ever.
func endless(n int, _ *model.LLMRequest) *model.LLMResponse {
	return compactiontest.CallTool("again", map[string]any{"n": n})
}

func TestACeilingHoldsThroughEveryLayer(t *testing.T) {
	t.Parallel()
	cfg := withEverything()
	cfg.Guard = guard.Config{Session: guard.Limits{USD: 10 * perCall}, Landing: guard.LandingHard, Unpriced: guard.UnpricedWarn}
	stack := newStack(t, cfg)
	llm := billed("gemini-2.5-flash", endless)
	err := ask(t, stack, llm, again(t))
	var stop *guard.StopError
	if !errors.As(err, &stop) || stop.Kind != guard.CostCeiling || stop.Scope != guard.ScopeSession || len(llm.Requests()) != 10 {
		t.Fatalf("%v after %d calls, want a stop after 10", err, len(llm.Requests()))
	}
	before := storedEvents(t, stack)
	if err := ask(t, stack, llm, again(t)); !errors.Is(err, guard.ErrStopped) || len(llm.Requests()) != 10 || storedEvents(t, stack) != before {
		t.Errorf("the next run: %v, %d calls, %d events after %d", err, len(llm.Requests()), storedEvents(t, stack), before)
	}
	if err := stack.Guard.Reset(t.Context(), stack.Sessions, desk, guard.ResetOptions{AddUSD: 3 * perCall}); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, stack, llm, again(t)); !errors.Is(err, guard.ErrStopped) || len(llm.Requests()) != 13 {
		t.Errorf("after a reset: %v, %d calls, want 13", err, len(llm.Requests()))
	}
	stats, err := stack.ContextStats(t.Context(), desk)
	if err != nil || stats.Usage.USD != 13*perCall || !strings.HasPrefix(stats.String(), "Context-management activity:\n  Compactions:  0\n") {
		t.Errorf("%v: %v, %s", err, stats.Usage.USD, stats)
	}
}

func storedEvents(t *testing.T, stack *longsession.Stack) int {
	t.Helper()
	status, err := stack.Sessions.Status(t.Context(), desk)
	if err != nil {
		t.Fatal(err)
	}
	return status.StoredEvents
}

func TestSubtasksOfAStackArePaidForByTheirCaller(t *testing.T) {
	t.Parallel()
	stack := newStack(t, longsession.Config{Model: speaker("m"), Compaction: compaction.Config{ContextWindow: 32_000}})
	small := billed("gemini-2.5-flash-lite", func(int, *model.LLMRequest) *model.LLMResponse {
		resp := compactiontest.Say("Forty-two.")
		resp.FinishReason = genai.FinishReasonStop
		return resp
	})
	subtasks, err := stack.Subtasks(subtask.Config{Model: small})
	if err != nil {
		t.Fatal(err)
	}
	ponder, err := functiontool.New(functiontool.Config{Name: "again", Description: "Thinks."}, func(ctx agent.ToolContext, _ struct{}) (map[string]any, error) {
		result, err := subtasks.RunSubtask(ctx, subtask.Spec{Name: "ponder", System: "Answer.", Message: "What is six times seven?"})
		return map[string]any{"answer": result.Text}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	llm := billed("gemini-2.5-flash", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			return compactiontest.CallTool("again", map[string]any{})
		}
		return compactiontest.Say("It is forty-two.")
	})
	if err := ask(t, stack, llm, ponder); err != nil {
		t.Fatal(err)
	}
	stats, err := stack.ContextStats(t.Context(), desk)
	if err != nil {
		t.Fatal(err)
	}
	const onLite tokens.Nano = 140_000 // 1,000 x 100 + 100 x 400
	if u := stats.Usage; u.USD != 2*perCall+onLite || u.Subtasks.Count != 1 || u.Subtasks.USD != onLite {
		t.Errorf("spent %v, of it %+v", u.USD, u.Subtasks)
	}
	for _, line := range []string{"Subtasks:     1 (1000 in / 100 out tokens, $0.0001 rolled up to /stats total)", "Models:       gemini-2.5-flash (2 turns, 2000 in / 200 out, $0.0011)", "            + gemini-2.5-flash-lite (1 turns, 1000 in / 100 out, $0.0001)"} {
		if !strings.Contains(stats.String(), line) {
			t.Errorf("%q is not in\n%s", line, stats)
		}
	}
}

func TestContextToolsAreOfferedOnlyIfTheyAreOn(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		tools contexttool.Config
		want  string
	}{
		{contexttool.Config{}, "[]"},
		{contexttool.Config{Enabled: true}, "[compact_context mark_task_done]"},
		{contexttool.Config{Enabled: true, Checkpoint: contexttool.ByOperator}, "[compact_context]"},
	} {
		stack := newStack(t, longsession.Config{Model: speaker("m"), Compaction: compaction.Config{ContextWindow: 32_000}, ContextTools: r.tools})
		declared := map[string]bool{}
		llm := compactiontest.NewModel("m", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			for name := range req.Tools {
				declared[name] = true
			}
			return compactiontest.Say("Done.")
		})
		if err := ask(t, stack, llm); err != nil {
			t.Fatal(err)
		}
		var offered []string
		for _, one := range stack.Tools() {
			offered = append(offered, one.Name())
		}
		if got := fmt.Sprint(sortedNames(declared)); got != r.want || len(offered) != len(declared)+1 { // read_result, which no request of this agent needs
			t.Errorf("%+v: declared %s, want %s; offered %v", r.tools, got, r.want, offered)
		}
	}
}

// A stack without the guard leaves nothing of it behind.
func TestWithoutTheGuardNothingIsStored(t *testing.T) {
	t.Parallel()
	for _, disable := range [][]longsession.Layer{nil, {longsession.LayerGuard}} {
		stack := newStack(t, longsession.Config{Model: speaker("m"), Disable: disable})
		if err := ask(t, stack, billed("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Yes.") })); err != nil {
			t.Fatal(err)
		}
		resp, err := stack.Sessions.Raw(t.Context(), &session.GetRequest{AppName: desk.AppName, UserID: desk.UserID, SessionID: desk.SessionID})
		if err != nil {
			t.Fatal(err)
		}
		if _, missing := resp.Session.State().Get(guard.StateKey); (missing == nil) != (disable == nil) || (stack.Guard == nil) != (disable != nil) {
			t.Errorf("without %v: %v, guard %v", disable, missing, stack.Guard)
		}
	}
}

func sortedNames(set map[string]bool) []string {
	return slices.Sorted(maps.Keys(set))
}

// The process ends behind a summary: the next one must know what it has cost.
func TestCloseStoresWhatTheLastSummaryHasCost(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		inner := session.InMemoryService()
		llm := billed("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
			return compactiontest.Say(strings.Repeat("There is much to say about this. ", 20))
		})
		writer := billed("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
			return compactiontest.Say("They have talked.")
		})
		open := func() *longsession.Stack {
			stack, err := longsession.New(inner, longsession.Config{Model: writer})
			if err != nil {
				t.Fatal(err)
			}
			return stack
		}
		stack := open()
		for range 4 {
			if err := ask(t, stack, llm); err != nil {
				t.Fatal(err)
			}
		}
		result, err := stack.Sessions.Compact(t.Context(), desk, compaction.CompactOptions{KeepRecent: 1})
		if err != nil || result.Skipped {
			t.Fatal(result, err)
		}
		if deleted {
			if err := stack.Sessions.Delete(t.Context(), &session.DeleteRequest{AppName: desk.AppName, UserID: desk.UserID, SessionID: desk.SessionID}); err != nil {
				t.Fatal(err)
			}
		}
		if err := stack.Close(t.Context()); err != nil {
			t.Errorf("deleted %v: %v", deleted, err)
		}
		if deleted {
			continue
		}
		next := open()
		usage, err := next.Guard.Usage(t.Context(), next.Sessions, desk)
		if err != nil || usage.Summaries.Calls != 1 || usage.USD != 5*perCall {
			t.Errorf("the next process knows of %+v, %v", usage, err)
		}
		if err := next.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatCannotHoldIsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	ceiling := guard.Limits{USD: guard.Dollars(0.10)}
	for name, row := range map[string]struct {
		change func(*longsession.Config)
		field  string
		remedy string // "" if the config is fine
	}{
		"a ceiling of turns":          {func(c *longsession.Config) { c.Guard.Turn = ceiling }, "Guard.Turn.USD", "guard.UnpricedAs"},
		"a ceiling of the session":    {func(c *longsession.Config) { c.Guard.Session = ceiling }, "Guard.Session.USD", "add them to Registry"},
		"a ceiling for other models":  {func(c *longsession.Config) { c.Guard.Session, c.Guard.Unpriced = ceiling, guard.UnpricedWarn }, "", ""},
		"a limit that needs no price": {func(c *longsession.Config) { c.Guard.Session.ModelCalls = 5 }, "", ""},
		"a window of ten tokens":      {func(c *longsession.Config) { c.Compaction.ContextWindow = 10 }, "Budget.ContextWindow", "128_000"},
	} {
		cfg := longsession.Config{Model: nameless{}}
		row.change(&cfg)
		stack, err := longsession.New(session.InMemoryService(), cfg)
		var refused *longsession.ConfigError
		switch {
		case row.remedy == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case row.remedy != "" && (!errors.As(err, &refused) || refused.Field != row.field || !strings.Contains(err.Error(), row.remedy)):
			t.Errorf("%s: %v", name, err)
		}
		if stack != nil {
			if err := stack.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// nameless is a model that no table has.
type nameless struct{ model.LLM }

func (nameless) Name() string { return "house-model-without-prices" }
