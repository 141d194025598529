package contexttool_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/record"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}

// app runs an agent with the tools of this package over a service without automatic triggers.
type app struct {
	t     *testing.T
	svc   *compaction.CompactionSessionService
	inner *gated
	tools *contexttool.Tools
	model *compactiontest.Model
	run   *runner.Runner
}

// gated is a store that runs a hook, if there is one, before each Get.
type gated struct {
	session.Service
	hook atomic.Pointer[func()]
}

func (g *gated) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if hook := g.hook.Load(); hook != nil {
		(*hook)()
	}
	return g.Service.Get(ctx, req)
}

// newApp starts an app. script answers the model's requests; build makes the agent, nil for one with the
// tools and that model.
func newApp(t *testing.T, cfg contexttool.Config, change func(*compaction.Config), script func(n int, req *model.LLMRequest) *model.LLMResponse, build func(a *app) agent.Agent) *app {
	t.Helper()
	cfg.Enabled = true
	c := cfg.Compaction(compaction.Config{Summarizer: &compactiontest.Oracle{}, InvocationThreshold: compaction.Off, TokenThreshold: compaction.Off})
	if change != nil {
		change(&c)
	}
	inner := &gated{Service: session.InMemoryService()}
	svc, err := compaction.NewCompactionService(inner, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	// ADK writes IDs into a response, and rows of a test share theirs.
	answer := func(n int, req *model.LLMRequest) *model.LLMResponse {
		resp := *script(n, req)
		resp.Content = adk.DeepCopy(resp.Content)
		return &resp
	}
	a := &app{t: t, svc: svc, inner: inner, model: compactiontest.NewModel("scripted", answer)}
	if a.tools, err = contexttool.New(svc, cfg); err != nil {
		t.Fatal(err)
	}
	if build == nil {
		build = func(a *app) agent.Agent { return a.agent("bot", a.model) }
	}
	a.run, err = runner.New(runner.Config{AppName: ref.AppName, Agent: build(a), SessionService: svc, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *app) agent(name string, llm model.LLM) agent.Agent {
	a.t.Helper()
	made, err := llmagent.New(llmagent.Config{Name: name, Description: "Plays " + name + ".", Model: llm, Tools: a.tools.Tools()})
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// ask runs one turn, which must not fail, and waits for the jobs behind it.
func (a *app) ask(text string) {
	a.t.Helper()
	for _, err := range a.run.Run(a.t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText(text, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			a.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), 10*time.Second)
	defer cancel()
	if err := a.svc.Flush(ctx, ref); err != nil {
		a.t.Fatal(err)
	}
}

// stored returns what is in storage.
func (a *app) stored() []*session.Event {
	a.t.Helper()
	resp, err := a.svc.Raw(a.t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		a.t.Fatal(err)
	}
	var out []*session.Event
	for ev := range resp.Session.Events().All() {
		out = append(out, ev)
	}
	return out
}

// records returns the records in storage.
func (a *app) records() (out []*compaction.CompactionMetadata) {
	a.t.Helper()
	for _, ev := range a.stored() {
		if m, err := record.From(ev); err == nil && m != nil {
			out = append(out, m)
		}
	}
	return out
}

// answers returns the responses of a tool in storage.
func (a *app) answers(tool string) (out []map[string]any) {
	a.t.Helper()
	for _, ev := range a.stored() {
		if ev.Content == nil {
			continue
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionResponse != nil && part.FunctionResponse.Name == tool {
				out = append(out, part.FunctionResponse.Response)
			}
		}
	}
	return out
}

// talk is a script: it answers at length, except where the request ends with a message of the user that
// has a cue: then it calls a tool.
func talk(cues map[string]*model.LLMResponse) func(int, *model.LLMRequest) *model.LLMResponse {
	return func(n int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1]
		for cue, response := range cues {
			if text := last.Parts[0].Text; last.Role == genai.RoleUser && strings.HasPrefix(text, cue) {
				copied := *response
				return &copied
			}
		}
		return compactiontest.Say(fmt.Sprintf("Answer %d. %s", n, long))
	}
}

var long = strings.Repeat("The price of flowers is 12 EUR. ", 40) // some 400 tokens

func one(tool string, args map[string]any) *model.LLMResponse {
	return compactiontest.CallTool(tool, args)
}
