package longsession_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

var everyLayer = []longsession.Layer{
	longsession.LayerToolResults, longsession.LayerBudget, longsession.LayerPrompt, longsession.LayerToolSearch, longsession.LayerGuard,
}

// liveModel is a model with which ADK can do live runs.
type liveModel struct{ model.LLM }

func (liveModel) Client() *genai.Client { return nil }

func TestTheWrapperOfAModelHasAClientOnlyIfTheModelHas(t *testing.T) {
	t.Parallel()
	stack := newStack(t, longsession.Config{Model: speaker("m")})
	type withClient interface{ Client() *genai.Client }
	for name, test := range map[string]struct {
		llm  model.LLM
		want bool
	}{"without": {speaker("m"), false}, "with": {liveModel{speaker("m")}, true}} {
		if _, has := stack.Model(test.llm).(withClient); has != test.want {
			t.Errorf("a model %s a client: the wrapper has one: %v", name, has)
		}
		if got := stack.Model(test.llm).Name(); got != "m" {
			t.Errorf("the wrapper's name is %q", got)
		}
	}
}

func TestAStackWithoutLayersLeavesModelsAndToolsAlone(t *testing.T) {
	t.Parallel()
	stack := newStack(t, longsession.Config{Model: speaker("m"), Disable: everyLayer, Recall: recall.Config{Disabled: true}})
	if llm := model.LLM(speaker("m")); stack.Model(llm) != llm {
		t.Error("the model is wrapped")
	}
	if tools := stack.Tools(); len(tools) > 0 {
		t.Errorf("%d tools are offered", len(tools))
	}
	if log := stack.TruncateLog(); log != nil {
		t.Errorf("log %q", log)
	}
	if total := stack.Tracker(compaction.SessionRef{}).Total(); total != 0 {
		t.Errorf("the tracker counts %d", total)
	}
}

func TestAheadReturnsTheInstructionOfItsProvider(t *testing.T) {
	t.Parallel()
	failure := errors.New("no instruction today")
	for _, disable := range [][]longsession.Layer{nil, {longsession.LayerBudget}, everyLayer} {
		stack := newStack(t, longsession.Config{Model: speaker("m"), Disable: disable})
		text, err := stack.Ahead(budget.Instruction("Answer {kindly}."))(nil)
		if text != "Answer {kindly}." || err != nil {
			t.Errorf("without %v: %q, %v", disable, text, err)
		}
		_, err = stack.Ahead(func(agent.ReadonlyContext) (string, error) { return "", failure })(nil)
		if err != failure {
			t.Errorf("without %v: %v", disable, err)
		}
		if stack.Ahead(nil) != nil {
			t.Errorf("without %v, no provider becomes one", disable)
		}
	}
}

func TestTwoStacksOnOneRunnerAreRefused(t *testing.T) {
	t.Parallel()
	for name, disable := range map[string][]longsession.Layer{"all layers": nil, "compaction": everyLayer} {
		one := newStack(t, longsession.Config{Model: speaker("m"), Disable: disable})
		other := newStack(t, longsession.Config{Model: speaker("m"), Disable: disable})
		root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: one.Model(speaker("m"))})
		if err != nil {
			t.Fatal(err)
		}
		_, err = runner.New(runner.Config{
			AppName: "app", Agent: root, SessionService: one.Sessions,
			PluginConfig: one.PluginConfig(other.PluginConfig().Plugins...),
		})
		if err == nil || !strings.Contains(err.Error(), "longsession-") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Contradictions between layers name both fields, and the errors of all layers come at once.
func TestContradictionsBetweenLayersAreRefusedByName(t *testing.T) {
	t.Parallel()
	cut := func(_ compaction.SessionRef, ev *session.Event) *session.Event { return ev }
	for name, test := range map[string]struct {
		change func(*longsession.Config)
		want   []string
	}{
		"lost ceilings": {func(c *longsession.Config) {
			c.Guard.Session.ModelCalls, c.Disable = 5, []longsession.Layer{longsession.LayerGuard}
		}, []string{"Guard is set: nobody holds its limits", "do not disable guard"}},
		"two windows":     {func(c *longsession.Config) { c.Budget.ContextWindow, c.Compaction.ContextWindow = 8_000, 9_000 }, []string{"Budget.ContextWindow is 8000", "Compaction.ContextWindow is 9000"}},
		"two reserves":    {func(c *longsession.Config) { c.Budget.MaxOutputTokens, c.Compaction.MaxOutputTokens = 100, 200 }, []string{"Budget.MaxOutputTokens is 100", "Compaction.MaxOutputTokens is 200"}},
		"two thresholds":  {func(c *longsession.Config) { c.Budget.Thresholds.Compact, c.Compaction.SafetyRatio = 0.9, 0.6 }, []string{"Budget.Thresholds.Compact is 0.9", "Compaction.SafetyRatio is 0.6"}},
		"two blocks":      {func(c *longsession.Config) { c.Budget.Thresholds.Block, c.Compaction.BlockRatio = 0.97, 0.96 }, []string{"Budget.Thresholds.Block is 0.97", "Compaction.BlockRatio is 0.96"}},
		"a cut":           {func(c *longsession.Config) { c.Compaction.Cut = cut }, []string{"Compaction.Cut is set", "ToolResults"}},
		"a masker":        {func(c *longsession.Config) { c.Budget.Masker = &toolresult.Masker{} }, []string{"Budget.Masker is set", "Masking"}},
		"no such layer":   {func(c *longsession.Config) { c.Disable = []longsession.Layer{"cache"} }, []string{`Disable is "cache"`, "toolresults, budget, prompt, toolsearch and guard"}},
		"a third window":  {func(c *longsession.Config) { c.ToolSearch.ContextWindow, c.Compaction.ContextWindow = 8_000, 9_000 }, []string{"ToolSearch.ContextWindow is 8000", "Compaction.ContextWindow is 9000"}},
		"a third reserve": {func(c *longsession.Config) { c.Budget.MaxOutputTokens, c.ToolSearch.MaxOutputTokens = 100, 200 }, []string{"Budget.MaxOutputTokens is 100", "ToolSearch.MaxOutputTokens is 200"}},
		"sections": {func(c *longsession.Config) {
			c.Budget.Sections = func(context.Context) []string { return nil }
		}, []string{"Budget.Sections is set", "Prompt", "disable prompt"}},
		"every layer": {func(c *longsession.Config) {
			c.ToolResults.MaxBytes, c.Masking.KeepFirst, c.Budget.Thresholds.Note, c.Compaction.OverlapSize = -2, -2, 2, -5
			c.ToolSearch.Threshold, c.Prompt.SourceTimeout = 7, -2
		}, []string{"MaxBytes is -2", "KeepFirst is -2", "Note is 2", "OverlapSize is -5", "Threshold is 7", "SourceTimeout is -2ns"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := longsession.Config{Model: speaker("m")}
			test.change(&cfg)
			stack, err := longsession.New(session.InMemoryService(), cfg)
			if err == nil || stack != nil {
				t.Fatalf("stack %v, error %v", stack, err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in the error: %v", want, err)
				}
			}
			if name != "every layer" {
				var refused *longsession.ConfigError
				if !errors.As(err, &refused) {
					t.Errorf("no ConfigError: %v", err)
				}
				return
			}
			var results *toolresult.ConfigError
			var guard *compaction.ConfigError
			var compacts *compaction.ConfigError
			var searches *toolsearch.ConfigError
			var sections *prompt.ConfigError
			if !errors.As(err, &results) || !errors.As(err, &guard) || !errors.As(err, &compacts) || !errors.As(err, &searches) || !errors.As(err, &sections) {
				t.Errorf("the errors of the layers are lost: %v", err)
			}
		})
	}
}

// A threshold of the budget is also compaction's, whether that has its default or nothing.
func TestThresholdsOfTheBudgetHoldForCompaction(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg  compaction.Config
		want float64
	}{
		"nothing":           {compaction.Config{}, 0.9},
		"the default":       {compaction.DefaultConfig(), 0.9},
		"the same by hand":  {compaction.Config{SafetyRatio: 0.9}, 0.9},
		"nothing of budget": {compaction.Config{SafetyRatio: 0.6}, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := longsession.Config{Model: speaker("m"), Compaction: test.cfg}
			if name != "nothing of budget" {
				cfg.Budget.Thresholds.Compact = 0.9
			}
			cfg.Budget.ContextWindow, cfg.Budget.MaxOutputTokens = 100_000, 20_000
			stack := newStack(t, cfg)
			ref := compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"}
			if _, err := stack.Sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
				t.Fatal(err)
			}
			status, err := stack.Sessions.Status(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := status.TokenThreshold, int(test.want*80_000); got != want || status.ContextWindow != 100_000 {
				t.Errorf("window %d, compaction from %d tokens, want %d", status.ContextWindow, got, want)
			}
		})
	}
}

// Results are cut only where an agent can read them whole: an admin tool that opens a stack over the same
// storage sees them as they are stored.
func TestResultsAreCutOnceReadingBackIsOffered(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of a file\n", 4000)
	for name, test := range map[string]struct {
		offer func(*longsession.Stack)
		cut   bool
	}{
		"nobody can read": {func(*longsession.Stack) {}, false},
		"a model":         {func(s *longsession.Stack) { s.Model(speaker("m")) }, true},
		"plugins":         {func(s *longsession.Stack) { s.PluginConfig() }, true},
		"tools":           {func(s *longsession.Stack) { s.Tools() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack := newStack(t, longsession.Config{Model: speaker("m")})
			test.offer(stack)
			shown := shownResult(t, stack, "read", long)
			if _, cut := shown["ref_id"]; cut != test.cut {
				t.Errorf("the view shows %.80v, cut: %v, want %v", shown, cut, test.cut)
			}
			if log := stack.TruncateLog(); (len(log) > 0) != test.cut {
				t.Errorf("log %q", log)
			}
		})
	}
}

// shownResult stores the result of a tool, and returns what the view shows of it.
func shownResult(t *testing.T, stack *longsession.Stack, name, output string) map[string]any {
	t.Helper()
	created, err := stack.Sessions.Create(t.Context(), &session.CreateRequest{AppName: "app", UserID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []*genai.Part{
		{FunctionCall: &genai.FunctionCall{ID: "c", Name: name}},
		{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: name, Response: map[string]any{"output": output}}},
	} {
		ev := session.NewEventWithContext(context.Background(), "i")
		ev.Author, ev.Content = "clerk", &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{part}}
		if err := stack.Sessions.AppendEvent(t.Context(), created.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	events := slices.Collect(created.Session.Events().All())
	return events[1].Content.Parts[0].FunctionResponse.Response
}

// An answer of tool_search or tool_call must be there whole, and a tool of the app's may have the name.
func TestAnswersOfToolSearchAreWholeAndBounded(t *testing.T) {
	t.Parallel()
	search := longsession.Config{Model: speaker("m")}
	limited, off := search, search
	limits := toolresult.Limits{MaxBytes: 1_000, StubAbove: toolresult.Off}
	limited.ToolResults.PerTool = map[string]toolresult.Limits{toolsearch.SearchToolName: limits, toolsearch.CallToolName: limits}
	off.ToolSearch.Threshold = toolsearch.Off
	const answer = 40_000
	for name, test := range map[string]struct {
		cfg   longsession.Config
		bytes int
		whole bool
	}{
		"an answer":              {search, answer, true},
		"a result of the app's":  {search, 1_000_000, false},
		"limits of the app's":    {limited, answer, false},
		"tool search turned off": {off, answer, false},
	} {
		for _, called := range []string{toolsearch.SearchToolName, toolsearch.CallToolName} {
			shown := shownResult(t, offered(newStack(t, test.cfg)), called, strings.Repeat("a tool\n", test.bytes/7))
			if _, cut := shown["ref_id"]; cut == test.whole {
				t.Errorf("%s of %s: cut: %v", name, called, cut)
			}
		}
	}
}

// offered returns the stack with a way to read whole results.
func offered(stack *longsession.Stack) *longsession.Stack {
	stack.Tools()
	return stack
}

// Compaction always has a hard limit, so Off holds for the budget alone.
func TestBlockCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: speaker("m"), Budget: budget.Config{ContextWindow: 32_000, Thresholds: budget.Thresholds{Block: compaction.Off}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// One answer of read_result must leave room in the window for the rest of the request.
func TestReadResultReturnsLessAtOnceInASmallWindow(t *testing.T) {
	t.Parallel()
	for window, want := range map[int]string{1_500: "at most 1024", 8_000: "at most 4000", 32_000: "at most 16000", 128_000: "at most 16384"} {
		stack := newStack(t, longsession.Config{Model: speaker("m"), Compaction: compaction.Config{ContextWindow: window}})
		read, ok := stack.Tools()[0].(interface {
			Declaration() *genai.FunctionDeclaration
		})
		if !ok {
			t.Fatalf("%T has no declaration", stack.Tools()[0])
		}
		if got := read.Declaration().Parameters.Properties["limit"].Description; !strings.Contains(got, want) {
			t.Errorf("window of %d: %q, want %q", window, got, want)
		}
	}
}
