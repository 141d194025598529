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
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

func speaker(name string) *compactiontest.Model {
	return compactiontest.NewModel(name, func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("Noted, thank you.")
	})
}

func newStack(t *testing.T, cfg longsession.Config) *longsession.Stack {
	t.Helper()
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 { // a second Close does nothing
			if err := stack.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return stack
}

// windowOf returns the context window that a stack derives from its config.
func windowOf(t *testing.T, cfg longsession.Config) int {
	t.Helper()
	stack := newStack(t, cfg)
	ref := compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"}
	if _, err := stack.Sessions.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	status, err := stack.Sessions.Status(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return status.ContextWindow
}

func TestTheContextWindowIsThatOfTheAgentsModel(t *testing.T) {
	t.Parallel()
	const known, other = "gemini-2.5-flash", "gpt-4o"
	table, err := tokens.NewRegistry(tokens.Model{Name: "house-llm", ContextWindow: 50_000})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		cfg  longsession.Config
		want int
	}{
		"the agent's model writes the summaries": {cfg: longsession.Config{Model: speaker(known)}, want: 1_048_576},
		"a cheaper model writes them":            {cfg: longsession.Config{Model: speaker(known), Compaction: compaction.Config{Model: speaker(other)}}, want: 1_048_576},
		"no model writes them":                   {cfg: longsession.Config{Model: speaker(known), Compaction: compaction.Config{Summarizer: summarizer.Extractive{}}}, want: 1_048_576},
		"the layer names the agent's model":      {cfg: longsession.Config{Model: speaker(known), Compaction: compaction.Config{Model: speaker(known), AgentModel: other}}, want: 128_000},
		"the layer sets the window":              {cfg: longsession.Config{Model: speaker(known), Compaction: compaction.Config{ContextWindow: 9_000}}, want: 9_000},
		"only the layer has a model":             {cfg: longsession.Config{Compaction: compaction.Config{Model: speaker(known)}}, want: 1_048_576},
		"tool search sets the window":            {cfg: longsession.Config{Model: speaker(known), ToolSearch: toolsearch.Config{ContextWindow: 7_000}}, want: 7_000},
		"a registry knows the model":             {cfg: longsession.Config{Model: speaker("house-llm"), Registry: table}, want: 50_000},
		"the layer has a registry of its own":    {cfg: longsession.Config{Model: speaker("house-llm"), Registry: &tokens.Registry{}, Compaction: compaction.Config{Registry: table}}, want: 50_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := windowOf(t, test.cfg); got != test.want {
				t.Errorf("context window %d, want %d", got, test.want)
			}
		})
	}
}

func TestAConfigThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	wrapped := newStack(t, longsession.Config{Model: speaker("m")}).Sessions
	for name, test := range map[string]struct {
		inner session.Service
		cfg   longsession.Config
		want  string
		typed bool
	}{
		"no model":               {inner: inner, want: "Model", typed: true},
		"a nil model":            {inner: inner, cfg: longsession.Config{Model: (*compactiontest.Model)(nil)}, want: "longsession: config: Model is nil: it holds a nil *compactiontest.Model", typed: true},
		"a nil model of a layer": {inner: inner, cfg: longsession.Config{Compaction: compaction.Config{Model: (*compactiontest.Model)(nil)}}, want: "Compaction.Model is nil", typed: true},
		"a bad value of a layer": {inner: inner, cfg: longsession.Config{Model: speaker("m"), Compaction: compaction.Config{SafetyRatio: 70}}, want: "SafetyRatio is 70", typed: true},
		"no inner service":       {cfg: longsession.Config{Model: speaker("m")}, want: "nil"},
		"two stacks":             {inner: wrapped, cfg: longsession.Config{Model: speaker("m")}, want: "already compacts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack, err := longsession.New(test.inner, test.cfg)
			if err == nil || stack != nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("stack %v, error %v, want an error with %q", stack, err, test.want)
			}
			var refused *compaction.ConfigError
			if errors.As(err, &refused) != test.typed {
				t.Errorf("a compaction.ConfigError: %v, want %v: %v", !test.typed, test.typed, err)
			}
		})
	}
}

// TestPluginsOfTheAppRunBetweenThoseOfTheLayers: an app's plugin that answers must not hide an event from the
// layers, and they must measure what the app's plugins left of a request.
func TestPluginsOfTheAppRunBetweenThoseOfTheLayers(t *testing.T) {
	t.Parallel()
	stack := newStack(t, longsession.Config{Model: speaker("m"), Compaction: compaction.Config{ContextWindow: 32_000}})
	var own []*plugin.Plugin
	for _, name := range []string{"first", "second"} {
		p, err := plugin.New(plugin.Config{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, p)
	}
	for range 2 { // asking again adds nothing to what was returned before
		var names []string
		for _, p := range stack.PluginConfig(own...).Plugins {
			names = append(names, p.Name())
		}
		if want := []string{"longsession-guard", "longsession-toolresult", "longsession-budget", "first", "second", "longsession-tools", "longsession-toolsearch", "longsession-requests"}; !slices.Equal(names, want) {
			t.Fatalf("plugins %v, want %v", names, want)
		}
	}
}

// TestTheStackMeasuresRequestsAsTheyAreSent: an app's plugin cuts every request to its newest content,
// so nothing ever needs to be compacted, although the provider reports no usage.
func TestTheStackMeasuresRequestsAsTheyAreSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		plugins  bool
		model    bool
		compacts bool
	}{
		"with the stack's plugins":     {plugins: true, compacts: false},
		"with the stack's model":       {model: true, compacts: false},
		"with neither the view counts": {compacts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := playCut(t, test.plugins, test.model) > 0; got != test.compacts {
				t.Errorf("compacted: %v, want %v", got, test.compacts)
			}
		})
	}
}

// playCut plays 20 turns of some 500 tokens with a window of 8,000 and returns how many summaries there are.
func playCut(t *testing.T, plugins, wrapped bool) int {
	t.Helper()
	llm := speaker("house-llm")
	stack := newStack(t, longsession.Config{Model: llm, Compaction: compaction.Config{
		Summarizer: summarizer.Extractive{}, InvocationThreshold: compaction.Off, ContextWindow: 8_000, Synchronous: true,
	}})
	cut, err := plugin.New(plugin.Config{
		Name: "cut",
		BeforeModelCallback: func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			req.Contents = req.Contents[len(req.Contents)-1:]
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	agentModel := model.LLM(llm)
	if wrapped {
		agentModel = stack.Model(llm)
	}
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: agentModel})
	if err != nil {
		t.Fatal(err)
	}
	cfg := runner.PluginConfig{Plugins: []*plugin.Plugin{cut}}
	if plugins {
		cfg = stack.PluginConfig(cut)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: stack.Sessions, PluginConfig: cfg, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	message := strings.Repeat("The customer would like to know where the parcel is. ", 40)
	for range 20 {
		for _, err := range r.Run(t.Context(), "u", "s", genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	status, err := stack.Sessions.Status(t.Context(), compaction.SessionRef{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return len(status.Summaries)
}
