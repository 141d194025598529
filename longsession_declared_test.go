package longsession_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/summarizer"
)

// provider answers as Gemini does, and keeps what it was sent.
type provider struct {
	mu     sync.Mutex
	bodies []string
	answer func(n int, last *genai.Part, body string) *genai.Part
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies = append(p.bodies, r.URL.Path+" "+string(body))
	var req struct{ Contents []*genai.Content }
	_ = json.Unmarshal(body, &req)
	part := p.answer(len(p.bodies), req.Contents[len(req.Contents)-1].Parts[0], string(body))
	if strings.Contains(r.URL.Path, ":stream") {
		_, _ = io.WriteString(w, "data: ")
		defer func() { _, _ = io.WriteString(w, "\n\n") }()
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"candidates": []any{map[string]any{
		"content": &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{part}}, "finishReason": "STOP",
	}}})
}

// gemini returns ADK's own model, whose service is the provider.
func (p *provider) gemini(t *testing.T) model.LLM {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	llm, err := gemini.NewModel(t.Context(), "gemini-2.5-flash", &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: server.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	return llm
}

// A chat without tools and without a summary sends, byte for byte, what it sends without the stack. So do agents that hand
// a conversation over, an agent that runs as a tool, and one that answers in JSON.
func TestAChatWithoutToolsSendsWhatBareADKSends(t *testing.T) {
	t.Parallel()
	say := func(n int, _ *genai.Part, _ string) *genai.Part {
		return genai.NewPartFromText(fmt.Sprintf("Answer %d. %s", n, strings.Repeat("It is a long story. ", 30)))
	}
	for name, row := range map[string]struct {
		build  func(llm model.LLM) (agent.Agent, error)
		answer func(n int, last *genai.Part, body string) *genai.Part
		only   string // the requests with this text
	}{
		"one agent": {func(llm model.LLM) (agent.Agent, error) {
			return llmagent.New(llmagent.Config{Name: "desk", Model: llm, Instruction: "Answer kindly.", GenerateContentConfig: &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0.3)}})
		}, say, ""},
		"no instruction": {func(llm model.LLM) (agent.Agent, error) {
			return llmagent.New(llmagent.Config{Name: "desk", Model: llm})
		}, say, ""},
		"an answer in JSON": {func(llm model.LLM) (agent.Agent, error) {
			return llmagent.New(llmagent.Config{Name: "desk", Model: llm, OutputSchema: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"a": {Type: genai.TypeString}}}})
		}, func(int, *genai.Part, string) *genai.Part { return genai.NewPartFromText(`{"a":"b"}`) }, ""},
		"agents that hand over": {func(llm model.LLM) (agent.Agent, error) {
			clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Knows orders.", Model: llm})
			if err != nil {
				return nil, err
			}
			return llmagent.New(llmagent.Config{Name: "desk", Model: llm, SubAgents: []agent.Agent{clerk}})
		}, func(n int, last *genai.Part, body string) *genai.Part {
			if n == 3 {
				return genai.NewPartFromFunctionCall("transfer_to_agent", map[string]any{"agent_name": "clerk"})
			}
			return say(n, last, body)
		}, ""},
		"an agent as a tool": {func(llm model.LLM) (agent.Agent, error) {
			clerk, err := llmagent.New(llmagent.Config{Name: "clerk", Description: "Knows orders.", Model: llm, Instruction: "You are the clerk."})
			if err != nil {
				return nil, err
			}
			return llmagent.New(llmagent.Config{Name: "desk", Model: llm, Tools: []tool.Tool{agenttool.New(clerk, nil)}})
		}, func(n int, last *genai.Part, body string) *genai.Part {
			if !strings.Contains(body, "You are the clerk.") && last.FunctionResponse == nil {
				return genai.NewPartFromFunctionCall("clerk", map[string]any{"request": "Where is order A-1041?"})
			}
			return say(n, last, body)
		}, "You are the clerk."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := func(layers bool) []string {
				p := &provider{answer: row.answer}
				llm, sessions, plugins := p.gemini(t), session.InMemoryService(), runner.PluginConfig{}
				if layers {
					stack := newStack(t, longsession.Config{Model: llm, Compaction: compaction.Config{InvocationThreshold: compaction.Off}})
					llm, sessions, plugins = stack.Model(llm), stack.Sessions, stack.PluginConfig()
				}
				root, err := row.build(llm)
				if err != nil {
					t.Fatal(err)
				}
				r, err := runner.New(runner.Config{AppName: desk.AppName, Agent: root, SessionService: sessions, PluginConfig: plugins, AutoCreateSession: true})
				if err != nil {
					t.Fatal(err)
				}
				for turn := range 6 {
					for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText(fmt.Sprint("Question ", turn), genai.RoleUser), agent.RunConfig{}) {
						if err != nil {
							t.Fatal(err)
						}
					}
				}
				return slices.DeleteFunc(p.bodies, func(body string) bool { return !strings.Contains(body, row.only) })
			}
			bare, layered := sent(false), sent(true)
			if len(bare) < 6 || len(bare) != len(layered) {
				t.Fatalf("%d requests without the stack, %d with it", len(bare), len(layered))
			}
			for i := range bare {
				if bare[i] != layered[i] {
					t.Fatalf("request %d is\n%s\nwithout the stack, and\n%s", i, bare[i], layered[i])
				}
			}
		})
	}
}

// seen is a request as a model was sent it.
type seen struct {
	agent    string
	declared []string
	summary  bool
	hidden   bool // it shows something shortened
}

// witness is a model that keeps what it was sent.
type witness struct {
	model.LLM
	mu   sync.Mutex
	sent []seen
}

func (w *witness) GenerateContent(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	s := seen{summary: slices.ContainsFunc(req.Contents, promptsize.IsSummary)}
	if ic, ok := ctx.(agent.InvocationContext); ok {
		s.agent = ic.Agent().Name()
	}
	if req.Config != nil {
		for _, of := range req.Config.Tools {
			for _, d := range of.FunctionDeclarations {
				s.declared = append(s.declared, d.Name)
			}
		}
	}
	contents, _ := json.Marshal(req.Contents)
	s.hidden = bytes.Contains(contents, []byte("ref_id"))
	for _, name := range s.declared {
		if _, callable := req.Tools[name]; !callable {
			s.declared = append(s.declared, name+", which ADK cannot call")
		}
	}
	w.mu.Lock()
	w.sent = append(w.sent, s)
	w.mu.Unlock()
	return w.LLM.GenerateContent(ctx, req, stream)
}

var recallTools = []string{recall.ToolName, recall.TurnToolName}

// small is a config by which some turns of chat are summarized, within the turn.
func small(inner model.LLM) longsession.Config {
	return longsession.Config{
		Model:      inner,
		Compaction: compaction.Config{Summarizer: summarizer.Extractive{}, ContextWindow: 32_000, InvocationThreshold: 3, RetainEvents: 2, MaxLedgerTokens: compaction.Off, Synchronous: true},
	}
}

// recall comes with the first summary and stays as long as there is one, in every process. No other request breaks the
// prefix of a chat.
func TestRecallComesWithTheFirstSummary(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	w := &witness{LLM: speaker("m")}
	breaks := map[string]int{}
	lost, summaries := 0, 0
	for range 3 { // three processes, one after the other
		cfg := small(w)
		cfg.Budget.Observer = func(_ context.Context, o budget.Observation) {
			if o.Kind == budget.PrefixBroken {
				breaks[strings.TrimSpace(string(o.Break.Cause)+" "+o.Break.Section)]++
			}
		}
		stack, err := longsession.New(inner, cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if err := ask(t, stack, w); err != nil {
				t.Fatal(err)
			}
		}
		if err := stack.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range w.sent {
		want := []string(nil)
		if s.summary {
			summaries++
			want = recallTools
		}
		if !slices.Equal(s.declared, want) {
			t.Errorf("request %d, summary %v: declares %v", i, s.summary, s.declared)
			lost++
		}
	}
	if summaries < 10 || summaries > len(w.sent)-3 {
		t.Errorf("%d of %d requests have a summary", summaries, len(w.sent))
	}
	delete(breaks, string(budget.CauseCompacted))
	if want := map[string]int{"tools changed recall": 1}; !maps.Equal(breaks, want) {
		t.Errorf("prefix breaks besides those of summaries: %v, want %v", breaks, want)
	}
}

// Each agent is offered recall by what it is shown itself: one that has been handed the conversation, one that runs as a
// tool, and a subtask, whose own summary names recall.
func TestEachAgentIsOfferedRecallByItsOwnSummary(t *testing.T) {
	t.Parallel()
	turn := 0
	w := &witness{LLM: compactiontest.NewModel("m", func(n int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1].Parts[0]
		declares := func(name string) bool { _, is := req.Tools[name]; return is }
		switch {
		case declares("look") && turn < 12: // the subtask
			if turn++; turn < 12 {
				return compactiontest.CallTool("look", map[string]any{"n": turn})
			}
			return compactiontest.Say("Found.")
		case last.Text == "Question 6":
			return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": "aide"})
		case last.Text == "Question 8":
			return compactiontest.CallTool("work", map[string]any{})
		case last.FunctionResponse != nil || !declares("clerk"):
			return compactiontest.Say(fmt.Sprintf("Answer %d. %s", n, strings.Repeat("It is a long story. ", 30)))
		}
		return compactiontest.CallTool("clerk", map[string]any{"request": "Go on."})
	})}
	cfg := small(w)
	cfg.Compaction.ContextWindow, cfg.Compaction.SafetyRatio = 6_000, 0.3
	stack := newStack(t, cfg)
	subtasks, err := stack.Subtasks(subtask.Config{})
	if err != nil {
		t.Fatal(err)
	}
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(agent.ToolContext, struct {
		N int `json:"n"`
	}) (map[string]any, error) {
		return map[string]any{"seen": strings.Repeat("A box of nails. ", 60)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	work, err := functiontool.New(functiontool.Config{Name: "work", Description: "Works."}, func(ctx agent.ToolContext, _ struct{}) (map[string]any, error) {
		result, err := subtasks.RunSubtask(ctx, subtask.Spec{Name: "survey", Message: "Count.", System: "Look.", Tools: []tool.Tool{look}, Model: w})
		return map[string]any{"text": result.Text, "reason": result.Reason}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	llm := stack.Model(w)
	clerk, err1 := llmagent.New(llmagent.Config{Name: "clerk", Description: "Knows orders.", Model: llm})
	aide, err2 := llmagent.New(llmagent.Config{Name: "aide", Description: "Knows more.", Model: llm, Tools: []tool.Tool{agenttool.New(clerk, nil), work}})
	root, err3 := llmagent.New(llmagent.Config{Name: "desk", Model: llm, SubAgents: []agent.Agent{aide}, Tools: []tool.Tool{agenttool.New(clerk, nil)}})
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	r, err := runner.New(runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText(fmt.Sprint("Question ", n), genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	with, without := map[string]int{}, map[string]int{}
	for i, s := range w.sent {
		if s.summary {
			with[s.agent]++
		} else {
			without[s.agent]++
		}
		for _, name := range recallTools {
			if slices.Contains(s.declared, name) != s.summary {
				t.Errorf("request %d of %s, summary %v: declares %v", i, s.agent, s.summary, s.declared)
			}
		}
	}
	if with["aide"] == 0 || without["desk"] == 0 || with["clerk"] > 0 || without["clerk"] == 0 || with["survey"] == 0 || without["survey"] == 0 {
		t.Errorf("requests with a summary %v, without %v", with, without)
	}
}

// An instruction that names a tool of the layers has it from the first request on.
func TestAToolThatTheInstructionNamesIsDeclared(t *testing.T) {
	t.Parallel()
	for instruction, want := range map[string][]string{
		"Answer kindly, and recalled facts first. Be_recall_ed.": nil,
		"Use recall before you say that you do not know.":        recallTools,
		"Tell them about `recall_turn`.":                         recallTools,
		"Never call read_result.":                                {"read_result"},
	} {
		w := &witness{LLM: speaker("m")}
		stack := newStack(t, small(w))
		root, err := llmagent.New(llmagent.Config{Name: "desk", Model: stack.Model(w), Instruction: instruction})
		if err != nil {
			t.Fatal(err)
		}
		r, err := runner.New(runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText("Hello", genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := w.sent[0].declared; !slices.Equal(got, want) {
			t.Errorf("%q: declares %v, want %v", instruction, got, want)
		}
	}
}

// Other sessions can be searched from the first request on, but not by agents that no plugin sees, such as those that run
// as tools: they have their task, and what its summary hides.
func TestOtherSessionsAreOfferedToAgentsWithPlugins(t *testing.T) {
	t.Parallel()
	for _, plugins := range []bool{false, true} {
		w := &witness{LLM: speaker("m")}
		cfg := small(w)
		cfg.Recall.AcrossSessions = true
		stack := newStack(t, cfg)
		root, err := llmagent.New(llmagent.Config{Name: "desk", Model: stack.Model(w)})
		if err != nil {
			t.Fatal(err)
		}
		on := runner.Config{AppName: desk.AppName, Agent: root, SessionService: stack.Sessions, AutoCreateSession: true}
		if plugins {
			on.PluginConfig = stack.PluginConfig()
		}
		r, err := runner.New(on)
		if err != nil {
			t.Fatal(err)
		}
		for range 9 {
			for _, err := range r.Run(t.Context(), desk.UserID, desk.SessionID, genai.NewContentFromText("Go on.", genai.RoleUser), agent.RunConfig{}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		summaries := 0
		for i, s := range w.sent {
			if s.summary {
				summaries++
			}
			if got := slices.Equal(s.declared, recallTools); got != (plugins || s.summary) {
				t.Errorf("plugins %v, request %d, summary %v: declares %v", plugins, i, s.summary, s.declared)
			}
		}
		if summaries == 0 || summaries == len(w.sent) {
			t.Errorf("plugins %v: %d of %d requests have a summary", plugins, summaries, len(w.sent))
		}
	}
}

// An agent whose tools were taken away reads what is masked in its history: read_result comes with the first mask, and not
// with the results that are shown whole.
func TestReadResultComesWithTheFirstMask(t *testing.T) {
	t.Parallel()
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "Looks."}, func(agent.ToolContext, struct {
		N int `json:"n"`
	}) (map[string]any, error) {
		return map[string]any{"seen": strings.Repeat("A box of nails. ", 60)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{LLM: compactiontest.NewModel("m", func(n int, req *model.LLMRequest) *model.LLMResponse {
		if _, can := req.Tools["look"]; can && req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse == nil {
			return compactiontest.CallTool("look", map[string]any{"n": n})
		}
		return compactiontest.Say("Noted.")
	})}
	cfg := small(w)
	cfg.Compaction.InvocationThreshold = compaction.Off
	cfg.Masking.From, cfg.Masking.BatchTokens = toolresult.Off, toolresult.Off
	stack := newStack(t, cfg)
	hidden := []bool{}
	for _, turns := range []int{4, 8} {
		for range turns {
			if err := ask(t, stack, w, look); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask(t, stack, w); err != nil {
			t.Fatal(err)
		}
		last := w.sent[len(w.sent)-1]
		hidden = append(hidden, last.hidden)
		if got := slices.Equal(last.declared, []string{"read_result"}); got != last.hidden || !got && len(last.declared) > 0 {
			t.Errorf("something masked: %v, declares %v", last.hidden, last.declared)
		}
	}
	if !slices.Equal(hidden, []bool{false, true}) {
		t.Errorf("masked: %v", hidden)
	}
}
