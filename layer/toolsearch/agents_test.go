package toolsearch_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/summarizer"
)

// says is a response with a text.
func says(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: genai.FinishReasonStop}
}

// calls is a response with one call.
func calls(name string, args map[string]any) *model.LLMResponse {
	return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: name, Args: args}}}}}
}

func TestParallelAgentsFindOnlyTheirOwnTools(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{ContextWindow: 20_000}))(t)
	all := servers(nil)
	var mu sync.Mutex
	found := map[string]string{}
	var agents []agent.Agent
	for i, own := range [][]tool.Tool{all[:100], all[100:]} {
		p := &provider{tb: t}
		p.answer = func(req *model.LLMRequest) *model.LLMResponse {
			answers := requests.Responses(req.Contents[len(req.Contents)-1])
			if len(answers) == 0 {
				return calls(toolsearch.SearchToolName, map[string]any{"query": "select:" + all[0].Name() + "," + all[150].Name()})
			}
			mu.Lock()
			defer mu.Unlock()
			found[fmt.Sprint("bot", i)] = toJSON(t, answers[0].Response["tools"])
			return says("Done.")
		}
		agents = append(agents, must(llmagent.New(llmagent.Config{Name: fmt.Sprint("bot", i), Model: d.Model(p), Tools: slices.Clip(own)}))(t))
	}
	c := &chat{tb: t, service: session.InMemoryService(), root: must(parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: agents}}))(t)}
	c.turn(0)
	for name, own := range map[string][2]string{"bot0": {all[0].Name(), all[150].Name()}, "bot1": {all[150].Name(), all[0].Name()}} {
		if got := found[name]; !strings.Contains(got, `"name":"`+own[0]+`"`) || strings.Contains(got, `"name":"`+own[1]+`"`) {
			t.Errorf("%s has found %s", name, got)
		}
	}
}

func TestAnAgentAsAToolDefersItsTools(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{}))(t)
	ran := 0
	inner := &provider{tb: t}
	inner.answer = func(req *model.LLMRequest) *model.LLMResponse {
		if len(requests.Responses(req.Contents[len(req.Contents)-1])) > 0 {
			return says("Found.")
		}
		return calls(toolsearch.CallToolName, map[string]any{"name": "git_status", "arguments": argsFor("git_status")})
	}
	helper := must(llmagent.New(llmagent.Config{Name: "helper", Description: "Helps.", Model: d.Model(inner), Tools: servers(func(string) { ran++ })}))(t)
	outer := &provider{tb: t, answer: func(req *model.LLMRequest) *model.LLMResponse {
		if len(requests.Responses(req.Contents[len(req.Contents)-1])) > 0 {
			return says("Done.")
		}
		return calls("helper", map[string]any{"request": "status"})
	}}
	c := &chat{tb: t, service: session.InMemoryService(), llm: d.Model(outer), tools: []tool.Tool{agenttool.New(helper, nil)}, plugins: []*plugin.Plugin{d.Plugin()}}
	c.turn(0)
	if ran != 1 || len(inner.sent) != 2 || !slices.Equal(inner.sent[0].declared, []string{toolsearch.SearchToolName, toolsearch.CallToolName}) {
		t.Errorf("ran %d times over %d requests with %v", ran, len(inner.sent), inner.sent[0].declared)
	}
	if got := outer.sent[0].declared; !slices.Equal(got, []string{"helper"}) {
		t.Errorf("the agent with one tool declares %v", got)
	}
}

// bigRequest is a request of the app's own, with all tools.
func bigRequest(tb testing.TB) *model.LLMRequest {
	req := &model.LLMRequest{Model: "m", Contents: []*genai.Content{genai.NewContentFromText("Hello.", genai.RoleUser)}, Config: &genai.GenerateContentConfig{}}
	for _, t := range servers(nil) {
		if err := t.(*remote).ProcessRequest(nil, req); err != nil {
			tb.Fatal(err)
		}
	}
	return req
}

func TestRequestsWithoutAnAgentAndOfCustomAgentsStay(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{}))(t)
	p := &provider{tb: t, answer: func(*model.LLMRequest) *model.LLMResponse { return says("Done.") }}
	llm := d.Model(p)
	for range llm.GenerateContent(t.Context(), bigRequest(t), false) {
	}
	c := &chat{tb: t, service: session.InMemoryService(), root: must(agent.New(agent.Config{Name: "custom", Run: func(ctx agent.InvocationContext) iter.Seq2[*session.Event, error] {
		return func(yield func(*session.Event, error) bool) {
			for resp, err := range llm.GenerateContent(ctx, bigRequest(t), false) {
				ev := session.NewEventWithContext(ctx, ctx.InvocationID())
				ev.Author, ev.LLMResponse = "custom", *resp
				if !yield(ev, err) {
					return
				}
			}
		}
	}}))(t)}
	c.turn(0)
	if len(p.sent) != 2 || len(p.sent[0].declared) != 200 || len(p.sent[1].declared) != 200 {
		t.Errorf("%d requests, with %d and %d tools", len(p.sent), len(p.sent[0].declared), len(p.sent[1].declared))
	}
}

func TestCallbacksSeeTheDeclarationsThatAreSent(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{}))(t)
	p := &provider{tb: t}
	var seen [][]string
	c := &chat{tb: t, service: session.InMemoryService(), llm: d.Model(p), tools: servers(nil), plugins: []*plugin.Plugin{d.Plugin()}, change: func(cfg *llmagent.Config) {
		cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(_ agent.CallbackContext, req *model.LLMRequest) (*model.LLMResponse, error) {
			seen = append(seen, declaredIn(req))
			return nil, nil
		}}
	}}
	for n := range 10 {
		c.turn(n)
	}
	for i, now := range p.sent[1:] { // before the first, it is not known that the model is wrapped
		if i++; !slices.Equal(seen[i], now.declared) {
			t.Errorf("request %d: callbacks see %d tools, and %d are sent", i, len(seen[i]), len(now.declared))
		}
	}
	if config, contents := p.breaks(); config+contents > 0 || len(seen) != len(p.sent) {
		t.Errorf("%d and %d breaks", config, contents)
	}
}

// TestThePluginLeavesAgentsWithoutTheModelAlone: nobody would translate their calls.
func TestThePluginLeavesAgentsWithoutTheModelAlone(t *testing.T) {
	t.Parallel()
	d := must(toolsearch.New(toolsearch.Config{}))(t)
	p := &provider{tb: t}
	c := &chat{tb: t, service: session.InMemoryService(), llm: p, tools: servers(nil), plugins: []*plugin.Plugin{d.Plugin()}}
	for n := range 4 {
		c.turn(n)
	}
	for i, now := range p.sent {
		if len(now.declared) != 200 {
			t.Errorf("request %d of an app without wrapped models has %d tools", i, len(now.declared))
		}
	}
	// With Promote there is nothing to translate.
	promote := must(toolsearch.New(toolsearch.Config{Mode: toolsearch.Promote}))(t)
	q := &provider{tb: t}
	c = &chat{tb: t, service: session.InMemoryService(), llm: q, tools: servers(nil), plugins: []*plugin.Plugin{promote.Plugin()}}
	for n := range 10 {
		c.turn(n)
	}
	if got := q.sent[0].declared; !slices.Equal(got, []string{toolsearch.SearchToolName}) {
		t.Errorf("%v are declared", got)
	}
}

// TestARequestThatIsBuiltAgainDefersTheSame: the budget compacts the session in the middle of a call, and runs
// the agent again.
func TestARequestThatIsBuiltAgainDefersTheSame(t *testing.T) {
	t.Parallel()
	for _, plugged := range []bool{false, true} {
		cfg := compaction.DefaultConfig()
		cfg.Summarizer, cfg.InvocationThreshold, cfg.SafetyRatio, cfg.BlockRatio, cfg.ContextWindow = summarizer.Extractive{}, compaction.Off, compaction.Off, 1, 128_000
		svc := must(compaction.NewCompactionService(session.InMemoryService(), cfg))(t)
		var rebuilt int
		meter := must(budget.New(budget.Config{ContextWindow: 14_000, Compactor: svc, Observer: func(_ context.Context, o budget.Observation) {
			if o.Kind == budget.Rebuilt {
				rebuilt++
			}
		}}))(t)
		d := must(toolsearch.New(toolsearch.Config{ContextWindow: 14_000}))(t)
		p := &provider{tb: t}
		c := &chat{tb: t, service: svc, llm: d.Select(meter.Model(d.Translate(p))), tools: servers(nil)}
		if plugged {
			c.plugins = []*plugin.Plugin{meter.Plugin(), d.Plugin()}
		}
		for n := range 40 {
			c.turn(n)
		}
		if err := meter.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, now := range p.sent {
			if !slices.Contains(now.declared, toolsearch.SearchToolName) || !slices.Contains(now.declared, toolsearch.CallToolName) || len(now.declared) > 20 {
				t.Errorf("request %d declares %v", i, now.declared)
			}
		}
		if rebuilt < 2 {
			t.Errorf("%d requests were built again: too few to show anything", rebuilt)
		}
	}
}
