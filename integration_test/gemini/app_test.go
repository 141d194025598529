package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// The models of the agents. The assistant's model also writes the summaries.
const (
	assistant = "gemini-2.5-flash"
	clerk     = "gemini-2.5-pro"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "user", SessionID: "session"}

// app is an application whose models are all played by the server.
type app struct {
	*server
	cfg    compaction.Config
	inner  session.Service
	svc    *compaction.CompactionSessionService
	root   agent.Agent
	runner *runner.Runner
	mode   agent.StreamingMode
	log    *journal

	mu      sync.Mutex
	facts   []string // facts that every agent must see
	last    int      // the last number used
	history []string // contents that storage must have
}

// newApp returns an application over the in-memory service. change may be nil. See start.
func newApp(t *testing.T, change func(*compaction.Config)) *app {
	t.Helper()
	a := &app{server: newServer(t), cfg: compaction.DefaultConfig(), inner: session.InMemoryService(), log: &journal{}}
	a.cfg.Model = a.client(assistant)
	a.cfg.Synchronous = true
	a.cfg.Observer = a.log.Observe
	if change != nil {
		change(&a.cfg)
	}
	a.inspect = a.checkRequest
	return a
}

// agent returns an agent whose model is played by the server.
func (a *app) agent(name, model string, tools []tool.Tool, subAgents ...agent.Agent) agent.Agent {
	a.t.Helper()
	made, err := llmagent.New(llmagent.Config{
		Name: name, Description: "Plays " + name + ".", Instruction: "Answer in one sentence.",
		Model: a.client(model), Tools: tools, SubAgents: subAgents,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// start creates the session and wraps the storage.
func (a *app) start(root agent.Agent) *app {
	a.t.Helper()
	a.root = root
	if _, err := a.inner.Create(a.t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		a.t.Fatal(err)
	}
	a.wrap()
	return a
}

// wrap creates a new service and a new runner over the storage.
func (a *app) wrap() {
	a.t.Helper()
	svc, err := compaction.NewCompactionService(a.inner, a.cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	a.svc = svc
	a.t.Cleanup(func() { _ = svc.Close(context.Background()) })
	a.runner, err = runner.New(runner.Config{AppName: ref.AppName, Agent: a.root, SessionService: svc, AutoCreateSession: true})
	if err != nil {
		a.t.Fatal(err)
	}
}

// simple is an app with one assistant and the tools of these tests.
func simple(t *testing.T, change func(*compaction.Config)) *app {
	a := newApp(t, change)
	return a.start(a.agent("assistant", assistant, []tool.Tool{a.lookup(), a.order()}))
}

// ask runs one turn with a new fact in the question. The turn must follow the plan.
func (a *app) ask() []*session.Event {
	a.t.Helper()
	events, err := a.try()
	if err != nil {
		a.t.Fatalf("turn: %v\n%s", err, a.log)
	}
	return events
}

// chat runs n turns that the assistant answers without tools.
func (a *app) chat(n int) {
	a.t.Helper()
	for range n {
		a.will(assistant, answer())
		a.ask()
	}
}

// try runs one turn, which may fail.
func (a *app) try() ([]*session.Event, error) {
	a.t.Helper()
	n := a.number()
	a.tell(n)
	return a.send(a.t.Context(), genai.NewContentFromText(fmt.Sprintf(
		"Please note that the code for item %d – “größer” in 日本語, 🙂 – is %s; we will come back to it in a while.", n, compactiontest.Fact(n)), genai.RoleUser))
}

// send runs one turn with the given message, and records what storage must have afterwards.
func (a *app) send(ctx context.Context, msg *genai.Content) (events []*session.Event, err error) {
	a.t.Helper()
	a.history = append(a.history, stored("user", msg))
	for ev, failure := range a.runner.Run(ctx, ref.UserID, ref.SessionID, msg, agent.RunConfig{StreamingMode: a.mode}) {
		if failure != nil {
			err = errors.Join(err, failure)
			continue
		}
		events = append(events, ev)
		if !ev.Partial {
			a.history = append(a.history, stored(ev.Author, ev.Content))
		}
	}
	if n := a.unplayed(); n > 0 && err == nil {
		a.t.Errorf("the models were asked %d times less than the script expects", n)
	}
	if a.t.Failed() {
		a.t.FailNow()
	}
	return events, err
}

// stored renders an event for comparison with storage.
func stored(author string, content *genai.Content) string {
	data, err := json.Marshal(content)
	if err != nil {
		return err.Error()
	}
	var value any
	_ = json.Unmarshal(data, &value)
	data, _ = json.Marshal(value)
	return author + ": " + string(data)
}

// number returns an unused number.
func (a *app) number() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	return a.last
}

// tell makes all later prompts require a fact.
func (a *app) tell(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.facts = append(a.facts, compactiontest.Fact(n))
}

// checkRequest checks that an agent's request has every fact, and every call of the agent as the
// model made it, including its signature.
func (a *app) checkRequest(req *request) {
	if req.summary {
		return
	}
	for _, c := range req.Contents {
		for _, p := range c.Parts {
			if call := p.FunctionCall; call != nil && call.Args["n"] != nil && p.ThoughtSignature != signature(int(call.Args["n"].(float64))) {
				a.t.Errorf("the call of %s for n=%v has signature %q", call.Name, call.Args["n"], p.ThoughtSignature)
			}
		}
	}
	if bytes.Contains(req.body, []byte("[truncated: kept ")) {
		return // the service has refused the request, and it was made as short as the refusal asks
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := compactiontest.Facts(string(req.body))
	if n := len(req.Contents); a.answersLate && n > 0 && len(req.Contents[n-1].responses()) > 0 {
		// ADK leaves out what was said between the call and its answer. It must not leave out a summary.
		seen = append(seen, a.unsummarized()...)
	}
	for _, fact := range a.facts {
		if !slices.Contains(seen, fact) {
			a.t.Errorf("%s is missing from a request of %s:\n%s", fact, req.model, outline(req.body))
		}
	}
}

// unsummarized returns the facts of the view that are in no summary.
func (a *app) unsummarized() []string {
	var contents []*genai.Content
	for _, ev := range a.view() {
		if ev.Content != nil && !isSummary(ev.Content) {
			contents = append(contents, ev.Content)
		}
	}
	return histories.FactsInContents(contents)
}

// isSummary reports whether content of the view is a summary.
func isSummary(c *genai.Content) bool {
	return len(c.Parts) > 0 && (strings.HasPrefix(c.Parts[0].Text, "[Summary of ") || strings.HasPrefix(c.Parts[0].Text, "[Checkpoint of "))
}

// forgetful disables the check for facts, because a rough summary may lose some.
func (a *app) forgetful() { a.inspect = nil }

// journal is an observer that records observations.
type journal struct {
	mu   sync.Mutex
	seen []compaction.Observation
}

func (j *journal) Observe(_ context.Context, o compaction.Observation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen = append(j.seen, o)
}

func (j *journal) of(outcome compaction.Outcome) []compaction.Observation {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.seen), func(o compaction.Observation) bool { return o.Outcome != outcome })
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var b strings.Builder
	for _, o := range j.seen {
		fmt.Fprintf(&b, "%s %s events=%d tokens=%d->%d model=%q %s %v\n", o.Outcome, o.Trigger, o.Events, o.TokensBefore, o.TokensAfter, o.Model, o.Reason, o.Err)
	}
	return b.String()
}
