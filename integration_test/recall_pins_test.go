package integration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/memory"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/adk/tool/loadmemorytool"
	"google.golang.org/adk/tool/preloadmemorytool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// remembers is a memory service with one entry, or an error.
type remembers struct {
	entry memory.Entry
	err   error
	asked *memory.SearchRequest
}

func (r *remembers) AddSessionToMemory(context.Context, session.Session) error { return nil }

func (r *remembers) SearchMemory(_ context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	r.asked = req
	if r.err != nil {
		return nil, r.err
	}
	return &memory.SearchResponse{Memories: []memory.Entry{r.entry}}, nil
}

// turnWith runs one turn of an agent over ADK alone, and returns its events and its error.
func turnWith(t *testing.T, root agent.Agent, mem memory.Service) (events []*session.Event, failure error) {
	t.Helper()
	run, err := runner.New(runner.Config{AppName: ref.AppName, Agent: root, SessionService: session.InMemoryService(), MemoryService: mem, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for ev, err := range run.Run(t.Context(), ref.UserID, ref.SessionID, genai.NewContentFromText("When does my visa expire?", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
	return events, nil
}

// agentOf makes an agent with tools.
func agentOf(t *testing.T, name string, llm model.LLM, tools ...tool.Tool) agent.Agent {
	t.Helper()
	made, err := llmagent.New(llmagent.Config{Name: name, Description: "Plays " + name + ".", Instruction: "Search earlier messages with recall.", Model: llm, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestPinASearchOfMemoryNamesNoSession is why a memory service cannot search one session.
func TestPinASearchOfMemoryNamesNoSession(t *testing.T) {
	t.Parallel()
	mem := &remembers{entry: memory.Entry{Author: "user", Content: genai.NewContentFromText(strings.Repeat("In May. ", 10_000), genai.RoleUser)}}
	var last *model.LLMRequest
	llm := compactiontest.NewModel("m", func(n int, req *model.LLMRequest) *model.LLMResponse {
		last = req
		if n == 0 {
			return compactiontest.CallTool("load_memory", map[string]any{"query": "visa"})
		}
		return compactiontest.Say("In May.")
	})
	if _, err := turnWith(t, agentOf(t, "bot", llm, loadmemorytool.New()), mem); err != nil {
		t.Fatal(err)
	}
	if *mem.asked != (memory.SearchRequest{Query: "visa", UserID: ref.UserID, AppName: ref.AppName}) {
		t.Errorf("asked for %+v", mem.asked)
	}
	// The tool cuts nothing: the request has the entry as a whole.
	response := adk.FunctionResponses(&session.Event{LLMResponse: model.LLMResponse{Content: last.Contents[len(last.Contents)-1]}})
	entries, ok := response[0].Response["memories"].([]memory.Entry)
	if !ok || len(entries) != 1 || len(entries[0].Content.Parts[0].Text) != 80_000 {
		t.Errorf("the model is given %T", response[0].Response["memories"])
	}
}

// TestPinPreloadWritesIntoTheInstruction is why Recaller.Memory is not for preload_memory.
func TestPinPreloadWritesIntoTheInstruction(t *testing.T) {
	t.Parallel()
	mem := &remembers{entry: memory.Entry{Content: genai.NewContentFromText("It expires in May.", genai.RoleUser)}}
	instruction := ""
	llm := compactiontest.NewModel("m", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		instruction = fmt.Sprint(req.Config.SystemInstruction.Parts[0].Text)
		return compactiontest.Say("In May.")
	})
	if _, err := turnWith(t, agentOf(t, "bot", llm, preloadmemorytool.New()), mem); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(instruction, "It expires in May.") {
		t.Errorf("the instruction is %q", instruction)
	}
	mem.err = errors.New("memory is down")
	if _, err := turnWith(t, agentOf(t, "bot", scripted(), preloadmemorytool.New()), mem); err == nil || !strings.Contains(err.Error(), "memory is down") {
		t.Errorf("the turn ends with %v", err)
	}
}

// TestPinAToolKnowsItsSessionAndItsBranch is what recall relies on to find out what it may search.
func TestPinAToolKnowsItsSessionAndItsBranch(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 2)
	where, err := functiontool.New(functiontool.Config{Name: "where", Description: "Where."}, func(ctx agent.ToolContext, _ struct{}) (string, error) {
		seen <- strings.Join([]string{ctx.AppName(), ctx.UserID(), ctx.SessionID(), ctx.Branch()}, " ")
		return "here", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	call := compactiontest.CallTool("where", nil)
	both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: []agent.Agent{
		agentOf(t, "left", scripted(call), where), agentOf(t, "right", scripted(compactiontest.CallTool("where", nil)), where),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turnWith(t, both, nil); err != nil {
		t.Fatal(err)
	}
	close(seen)
	got := map[string]bool{}
	for place := range seen {
		got[place] = true
	}
	for _, branch := range []string{"both.left", "both.right"} {
		if !got["app user session "+branch] {
			t.Errorf("no tool ran in %s: %v", branch, got)
		}
	}
}

// TestPinArgumentsThatBreakTheSchemaAreAnAnswer: a functiontool refuses arguments that its schema does not have. The
// turn goes on, but the model reads an error of the library in place of a remedy.
func TestPinArgumentsThatBreakTheSchemaAreAnAnswer(t *testing.T) {
	t.Parallel()
	count, err := functiontool.New(functiontool.Config{Name: "count", Description: "Counts."},
		func(agent.ToolContext, struct {
			Limit int `json:"limit"`
		}) (string, error) {
			return "ok", nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []map[string]any{{"limit": "8"}, {"limit": 8, "more": true}, {}} {
		events, err := turnWith(t, agentOf(t, "bot", scripted(compactiontest.CallTool("count", args)), count), nil)
		if err != nil {
			t.Errorf("%v: the turn fails with %v", args, err)
			continue
		}
		refused := false
		for _, ev := range events {
			for _, response := range adk.FunctionResponses(ev) {
				refused = refused || response.Response["error"] != nil
			}
		}
		if !refused {
			t.Errorf("%v were accepted", args)
		}
	}
}
