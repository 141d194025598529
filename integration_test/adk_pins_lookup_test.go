package integration_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/sequentialagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// bareRun is ADK alone over stored events: which agents answer, and how often a tool runs.
type bareRun struct {
	t       *testing.T
	service session.Service
	asked   []string // the agents whose models were asked, in order
	ran     int      // how often the tool ran
}

func storedBy(t *testing.T, events ...*session.Event) *bareRun {
	t.Helper()
	l := &bareRun{t: t, service: session.InMemoryService()}
	sess := createBare(t, l.service)
	for _, ev := range events {
		if err := l.service.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// agent returns an agent that gives the answers of a plan, and "Done." behind it.
func (l *bareRun) agent(name string, cfg llmagent.Config, plan ...*model.LLMResponse) agent.Agent {
	l.t.Helper()
	cfg.Name, cfg.Description = name, "Plays "+name+"."
	cfg.Model = compactiontest.NewModel(name, func(n int, _ *model.LLMRequest) *model.LLMResponse {
		l.asked = append(l.asked, name)
		if n < len(plan) {
			return plan[n]
		}
		return compactiontest.Say("Done.")
	})
	refund, err := functiontool.New(functiontool.Config{Name: "refund", Description: "Pays back.", RequireConfirmation: true}, func(agent.ToolContext, lookupArgs) (lookupResult, error) {
		l.ran++
		return lookupResult{}, nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	look, err := functiontool.New(functiontool.Config{Name: "lookup", Description: "Looks."}, func(agent.ToolContext, lookupArgs) (lookupResult, error) { return lookupResult{}, nil })
	if err != nil {
		l.t.Fatal(err)
	}
	cfg.Tools = []tool.Tool{refund, look}
	made, err := llmagent.New(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	return made
}

// send runs a turn over a service, which may hide events, and returns its error.
func (l *bareRun) send(service session.Service, root agent.Agent, msg *genai.Content) error {
	l.t.Helper()
	r, err := runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: service})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, err := range r.Run(l.t.Context(), ref.UserID, ref.SessionID, msg, agent.RunConfig{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// asksToRefund are a call of refund by an agent, as x, and the request to confirm it, as y.
func asksToRefund(name string) []*session.Event {
	var h compactiontest.History
	h.User("i1", "Pay me back.").Call("i1", name, "refund", "x").Response("i1", name, "refund", "requires confirmation", "x")
	h.Add("i1", name, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{
		ID: "y", Name: toolconfirmation.FunctionCallName,
		Args: map[string]any{"originalFunctionCall": &genai.FunctionCall{ID: "x", Name: "refund", Args: map[string]any{"n": 1}}},
	}}}})
	return h.Events
}

func approval() *genai.Content {
	return answerTo(&genai.FunctionCall{ID: "y", Name: toolconfirmation.FunctionCallName}, map[string]any{"confirmed": true})
}

// ADK passes over agents that nobody may transfer to, however many invocations they have filled.
func TestPinAgentsThatCannotBeTransferredToArePassedOver(t *testing.T) {
	t.Parallel()
	var h compactiontest.History
	h.User("i1", "q").Agent("i1", "root", "a").Agent("i1", "assistant", "a")
	for _, invocation := range []string{"i2", "i3", "i4", "i5", "i6"} {
		h.User(invocation, "q").Agent(invocation, "worker", "a").Agent(invocation, "gone", "a")
	}
	l := storedBy(t, h.Events...)
	worker := l.agent("worker", llmagent.Config{})
	flow, err := sequentialagent.New(sequentialagent.Config{AgentConfig: agent.Config{Name: "flow", SubAgents: []agent.Agent{worker}}})
	if err != nil {
		t.Fatal(err)
	}
	assistant := l.agent("assistant", llmagent.Config{SubAgents: []agent.Agent{flow}})
	root := l.agent("root", llmagent.Config{SubAgents: []agent.Agent{assistant}})
	if err := l.send(l.service, root, genai.NewContentFromText("And now?", genai.RoleUser)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.asked, []string{"assistant"}) {
		t.Errorf("%q answered, want assistant", l.asked)
	}
}

// The agent of an answer is the author of its call, however old, and whether or not it may be transferred to.
func TestPinAnAnswerGoesToTheAuthorOfItsCall(t *testing.T) {
	t.Parallel()
	var h compactiontest.History
	h.Events = asksToRefund("worker")
	for _, invocation := range []string{"i2", "i3", "i4"} {
		h.Turn(invocation, "root", "q", "a")
	}
	l := storedBy(t, h.Events...)
	worker := l.agent("worker", llmagent.Config{DisallowTransferToParent: true})
	root := l.agent("root", llmagent.Config{SubAgents: []agent.Agent{worker}})
	if err := l.send(l.service, root, approval()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.asked, []string{"worker"}) || l.ran != 1 {
		t.Errorf("%q answered, and the tool ran %d times; want worker and once", l.asked, l.ran)
	}
}

// ADK reads a decision in the newest event of the user alone, even if that event has no content.
func TestPinOnlyTheNewestEventOfTheUserDecides(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		events := asksToRefund("root")
		events = append(events, &session.Event{ID: "decision", InvocationID: "i2", Author: "user", LLMResponse: model.LLMResponse{Content: approval()}})
		if later {
			events = append(events, &session.Event{ID: "later", InvocationID: "i2", Author: "user"})
		}
		l := storedBy(t, events...)
		if err := l.send(l.service, l.agent("root", llmagent.Config{}), nil); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 1, true: 0}[later]; l.ran != want {
			t.Errorf("a later event of the user: %t. The tool ran %d times, want %d", later, l.ran, want)
		}
	}
}

// With IncludeContents "none", a prompt begins at the last event of the user. If the newest event responds to a call
// before that, and another event lies between, ADK ends the turn. So the order in which answers are shown matters.
func TestPinAResponseWhoseCallIsBeforeThePromptEndsTheTurn(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		calls, answers, ends := &compactiontest.History{}, &compactiontest.History{}, &compactiontest.History{}
		calls.User("i1", "q").Call("i1", "root", "lookup", "a", "b").Response("i1", "root", "lookup", "begun", "a", "b")
		answers.Response("i2", "user", "lookup", "done", "a").Add("i3", "user", approval())
		if moved { // directly in front of the newest response
			slices.Reverse(answers.Events)
		}
		ends.Response("i3", "root", "lookup", "done", "b")
		l := storedBy(t, slices.Concat(calls.Events, answers.Events, ends.Events)...)
		err := l.send(l.service, l.agent("root", llmagent.Config{IncludeContents: llmagent.IncludeContentsNone}), nil)
		if failed := err != nil && strings.Contains(err.Error(), "no function call event found"); failed != moved {
			t.Errorf("the answer is moved: %t. Error: %v", moved, err)
		}
	}
}
