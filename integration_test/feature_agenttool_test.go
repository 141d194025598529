package integration_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/agenttool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
)

// ADK runs such an agent on its own session in memory. Its output is a tool result of the calling
// agent, and no other part of it is in the session.
func TestAnAgentAsAToolLosesNothing(t *testing.T) {
	t.Parallel()
	playAll(t, []feature{
		{name: "once a turn", branches: []string{""}, prepare: func(a *app) play {
			return a.withExpert(nil, func(x *actor, i int) {
				x.will(a.consult(1), answer())
				a.ask()
			})
		}},
		{name: "several at once, and other tools", branches: []string{""}, prepare: func(a *app) play {
			return a.withExpert(nil, func(x *actor, i int) {
				x.will(a.lookups(1), a.consult(1+i%3), answer())
				a.ask()
			})
		}},
		{name: "its answer is the answer", branches: []string{""}, prepare: func(a *app) play {
			return a.withExpert(&agenttool.Config{SkipSummarization: true}, func(x *actor, i int) {
				if i%2 == 0 {
					x.will(a.lookups(1), a.consult(1))
				} else {
					x.will(answer())
				}
				a.ask()
			})
		}},
	})
}

// consult is a response that asks the expert about n new items.
func (a *app) consult(n int) *model.LLMResponse {
	args := make([]map[string]any, n)
	for i := range args {
		args[i] = map[string]any{"request": fmt.Sprintf("item %d", a.ledger.number())}
	}
	return compactiontest.CallTool("expert", args...)
}

// withExpert is an app whose assistant has an agent as a tool. That agent uses a tool too.
func (a *app) withExpert(cfg *agenttool.Config, turn func(x *actor, i int)) play {
	a.t.Helper()
	x := newActor(a, "assistant", "")
	var consulted atomic.Int32
	expert := a.made(llmagent.New(llmagent.Config{
		Name: "expert", Description: "Knows all items.",
		Model: compactiontest.NewModel("model-of-expert", func(_ int, req *model.LLMRequest) *model.LLMResponse {
			return a.expertSays(req, &consulted)
		}),
		Tools: []tool.Tool{a.tool(functiontool.Config{Name: "read", Description: "Reads."}, func(_ agent.ToolContext, args lookupArgs) (lookupResult, error) {
			return lookupResult{N: args.N, Details: "a page"}, nil
		})},
	}))
	root := a.llm(x, func(c *llmagent.Config) { c.Tools = []tool.Tool{a.lookup(), agenttool.New(expert, cfg)} })
	return play{root: root, turn: func(i int) { turn(x, i) }, after: func() {
		if n := int(consulted.Load()); n < a.turns/2 {
			a.t.Errorf("the expert was consulted %d times in %d turns", n, a.turns)
		}
		resp, err := a.svc.List(a.t.Context(), &session.ListRequest{AppName: "expert", UserID: ref.UserID})
		if err == nil && len(resp.Sessions) > 0 {
			a.t.Errorf("the expert has %d sessions in the service", len(resp.Sessions))
		}
		for _, ev := range a.raw() {
			if ev.Author == "expert" {
				a.t.Errorf("an event of the expert is in the session: %s", canonical(ev.Content))
			}
		}
	}}
}

// expertSays is the expert's model. It calls its tool once and then answers with the fact of the
// requested item. It must see only that request, not the caller's session.
func (a *app) expertSays(req *model.LLMRequest, consulted *atomic.Int32) *model.LLMResponse {
	var item int
	if _, err := fmt.Sscanf(req.Contents[0].Parts[0].Text, "item %d", &item); err != nil {
		a.t.Errorf("the expert's prompt begins with %s", canonical(req.Contents[0]))
	}
	if facts := histories.FactsInContents(req.Contents); len(facts) > 0 {
		a.t.Errorf("the expert sees %v of its caller's session", facts)
	}
	for _, problem := range requests.Pairs(req.Contents) {
		a.t.Errorf("expert: %s", problem)
	}
	if len(req.Contents) == 1 {
		return compactiontest.CallTool("read", map[string]any{"n": item})
	}
	consulted.Add(1)
	fact := compactiontest.Fact(item)
	a.ledger.tell(fact, "", "assistant")
	return &model.LLMResponse{Content: genai.NewContentFromText("The code is "+fact+".", genai.RoleModel)}
}
