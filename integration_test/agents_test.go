package integration_test

import (
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

// llm returns an agent whose model is an actor. change may be nil.
func (a *app) llm(x *actor, change func(*llmagent.Config)) agent.Agent {
	a.t.Helper()
	cfg := llmagent.Config{Name: x.name, Description: "Plays " + x.name + ".", Model: x.model}
	if a.decorate != nil {
		cfg.Model = a.decorate(cfg.Model)
	}
	cfg.Model = a.inLayers(cfg.Model)
	if change != nil {
		change(&cfg)
	}
	ag, err := llmagent.New(cfg)
	if err != nil {
		a.t.Fatal(err)
	}
	return ag
}

type lookupArgs struct {
	N int `json:"n"`
}

type lookupResult struct {
	N       int    `json:"n"`
	Fact    string `json:"fact"`
	Details string `json:"details"`
}

// lookup is a tool that returns the fact of its argument in a result of a few hundred bytes.
func (a *app) lookup() tool.Tool {
	a.t.Helper()
	return a.tool(functiontool.Config{Name: "lookup", Description: "Looks an item up."}, func(ctx agent.ToolContext, args lookupArgs) (lookupResult, error) {
		fact := compactiontest.Fact(args.N)
		a.ledger.tell(fact, ctx.Branch(), ctx.AgentName())
		if a.inTool != nil {
			a.inTool()
		}
		return lookupResult{args.N, fact, strings.Repeat("Nothing else is known about this item. ", 6)}, nil
	})
}

func (a *app) tool(cfg functiontool.Config, handler functiontool.Func[lookupArgs, lookupResult]) tool.Tool {
	a.t.Helper()
	made, err := functiontool.New(cfg, handler)
	if err != nil {
		a.t.Fatal(err)
	}
	return made
}

// lookups is a response that calls lookup for n new facts in parallel.
func (a *app) lookups(n int) *model.LLMResponse {
	args := make([]map[string]any, n)
	for i := range args {
		args[i] = map[string]any{"n": a.ledger.number()}
	}
	return compactiontest.CallTool("lookup", args...)
}

// transfer is a response that hands over to another agent.
func transfer(to string) *model.LLMResponse {
	return compactiontest.CallTool("transfer_to_agent", map[string]any{"agent_name": to})
}

// answer is a response that ends a turn.
func answer() *model.LLMResponse {
	return compactiontest.Say("I have written that down with all the usual care, and will remember it.")
}

// answerTo returns a user's message that answers a function call.
func answerTo(call *genai.FunctionCall, response map[string]any) *genai.Content {
	return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{
		FunctionResponse: &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: response},
	}}}
}
