package gemini_test

import (
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
)

type lookupArgs struct {
	N int `json:"n"`
}

type lookupResult struct {
	N       int    `json:"n"`
	Fact    string `json:"fact,omitempty"`
	Details string `json:"details"`
}

// lookup is a tool that returns the fact of its argument in a result of a few hundred bytes.
func (a *app) lookup() tool.Tool {
	return a.tool(functiontool.Config{Name: "lookup", Description: "Looks an item up."}, func(_ agent.ToolContext, args lookupArgs) (lookupResult, error) {
		a.tell(args.N)
		return lookupResult{args.N, compactiontest.Fact(args.N), strings.Repeat("Über diesen Artikel ist sonst nichts bekannt – 🙂. ", 6)}, nil
	})
}

// order is a long-running tool that immediately returns that it has begun.
func (a *app) order() tool.Tool {
	return a.tool(functiontool.Config{Name: "order", Description: "Orders an item.", IsLongRunning: true}, func(_ agent.ToolContext, args lookupArgs) (lookupResult, error) {
		return lookupResult{N: args.N, Details: "pending"}, nil
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

// lookups is a model turn that calls lookup for n new facts in parallel.
func (a *app) lookups(ids bool, n int) reply {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = a.number()
	}
	return calling("lookup", ids, numbers...)
}
