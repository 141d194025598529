package integration_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/prompt"
)

// An agent of an app without plugin and wrapper gets the sections by its instruction provider, and one with all
// three gets each section once. Braces fail no turn.
func TestInstructionsOfABareApp(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		project := &changing{text: "Use {tabs}."}
		a := newPromptApp(t, prompt.Config{Project: project, Memories: prompt.Text(" \n"), Skills: prompt.Text("Skills: {pdf}")}, oneWorker, func(a *promptApp) {
			a.noPlugins, a.noWrapper = !all, !all
			a.more = func(cfg *llmagent.Config) {
				cfg.Instruction, cfg.InstructionProvider = "", a.builder.Instruction("You help {everybody}.")
			}
		})
		for turn := range 3 {
			a.ask(fmt.Sprint("Question ", turn))
		}
		for i, sent := range a.sent {
			if len(sent.instruction) != 1 || !strings.HasPrefix(sent.instruction[0], "You help {everybody}.\n\nUse {tabs}.\n\nSkills: {pdf}") || strings.Count(sent.instruction[0], "{tabs}") != 1 {
				t.Errorf("request %d has %q", i, sent.instruction)
			}
			if all && (!slices.Equal(sent.names, []string{"base"}) || len(sent.breakpoints) != 1 || sent.breakpoints[0] != len(sent.joined)) {
				t.Errorf("request %d: sections %q, break points %v", i, sent.names, sent.breakpoints)
			}
		}
		if calls := project.called(); calls != 3 {
			t.Errorf("the source was asked %d times in 3 runs", calls)
		}
	}
}

// Without sections, nothing of the app is touched: the model is the app's own, and there are no plugins.
func TestABuilderWithoutSectionsIsIdentity(t *testing.T) {
	t.Parallel()
	b, err := prompt.New(prompt.Config{})
	if err != nil {
		t.Fatal(err)
	}
	llm := &pinned{name: "m"}
	if b.Model(llm) != model.LLM(llm) || b.Plugin() != nil || b.MessagePlugin() != nil {
		t.Error("a builder without sections wraps a model or has a plugin")
	}
	only, err := prompt.New(prompt.Config{Status: prompt.Text("x")})
	if err != nil {
		t.Fatal(err)
	}
	if only.Model(llm) != model.LLM(llm) || only.Plugin() == nil || only.MessagePlugin() == nil {
		t.Error("a builder with a status only wraps a model or lacks a plugin")
	}
}

// A model call that belongs to no agent is the app's own business, and wrapping twice is wrapping once.
func TestACallWithoutAnAgentStaysAsItIs(t *testing.T) {
	t.Parallel()
	b, err := prompt.New(prompt.Config{Project: prompt.Text("P")})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	llm := &pinned{name: "m", answer: func(ctx context.Context, _ int, req *model.LLMRequest) *model.LLMResponse {
		if calls++; req != nil && req.Config != nil || prompt.Breakpoints(ctx) != nil || prompt.SectionNames(ctx) != nil {
			t.Errorf("the request is %+v, break points %v", req, prompt.Breakpoints(ctx))
		}
		return compactiontest.Say("Done.")
	}}
	wrapped := b.Model(llm)
	if b.Model(wrapped) != wrapped {
		t.Error("a wrapped model is wrapped again")
	}
	for _, err := range wrapped.GenerateContent(t.Context(), &model.LLMRequest{}, false) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range wrapped.GenerateContent(t.Context(), nil, false) {
		break // whatever the model does with it
	}
	if calls == 0 {
		t.Error("the model was not called")
	}
}

// An app without ADK's runner may build the same prompt by itself.
func TestSectionsForACallOfTheApp(t *testing.T) {
	t.Parallel()
	b, err := prompt.New(prompt.Config{
		Project: prompt.Text("P"), Memories: prompt.SourceFunc(func(context.Context) (string, error) { panic("no") }),
		Skills: prompt.Text("S"), Scratchpad: prompt.Text("plan"), Status: prompt.Text("now"),
	})
	if err != nil {
		t.Fatal(err)
	}
	text, breaks := b.Sections(t.Context(), "base").Build()
	if text != "base\n\nP\n\nS\n\nplan\n\nnow" || !slices.Equal(breaks, []int{4, 7}) {
		t.Errorf("%q, %v", text, breaks)
	}
}

// In a live run no callback sees a request. Only an instruction provider has a part in it, and no event is
// touched.
func TestLiveRunsHaveTheirInstructionOnlyByTheProvider(t *testing.T) {
	t.Parallel()
	asked := 0
	b, err := prompt.New(prompt.Config{Project: prompt.SourceFunc(func(context.Context) (string, error) { asked++; return "Use {tabs}.", nil }), Status: prompt.Text("now")})
	if err != nil {
		t.Fatal(err)
	}
	live := &liveContext{session: createBare(t, session.InMemoryService())}
	ev := session.NewEventWithContext(t.Context(), "i")
	ev.Content = genai.NewContentFromFunctionResponse("look", map[string]any{"n": 1}, genai.RoleUser)
	before := asJSON(ev.Content)
	if _, err := b.Plugin().BeforeRunCallback()(live); err != nil || asked != 0 {
		t.Errorf("BeforeRun asked %d sources: %v", asked, err)
	}
	if got, err := b.Plugin().OnEventCallback()(live, ev); got != nil || err != nil || asJSON(ev.Content) != before {
		t.Errorf("the event is now %s", asJSON(ev.Content))
	}
	if got, err := b.MessagePlugin().OnUserMessageCallback()(live, genai.NewContentFromText("Hello", genai.RoleUser)); got != nil || err != nil {
		t.Errorf("the message is now %v", got)
	}
}

// liveContext is the context of a live run, as far as plugins see it: it has no RunConfig.
type liveContext struct {
	agent.InvocationContext // panics for everything else
	session                 session.Session
}

func (*liveContext) RunConfig() *agent.RunConfig { return nil }
func (c *liveContext) Session() session.Session  { return c.session }
