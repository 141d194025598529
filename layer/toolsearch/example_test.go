package toolsearch_test

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	adkrunner "google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// An agent with the 200 tools of several servers sends two declarations. The model finds a tool and
// calls it, and the app sees a call of that tool.
func ExampleDeferral_Model() {
	deferral, err := toolsearch.New(toolsearch.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	llm := compactiontest.NewModel("gpt-4o", func(n int, req *model.LLMRequest) *model.LLMResponse {
		switch n {
		case 0:
			declared := req.Config.Tools[0].FunctionDeclarations
			note, _, _ := strings.Cut(declared[0].Description, "\n")
			fmt.Printf("The model sees %s and %s: %s\n", declared[0].Name, declared[1].Name, note)
			return compactiontest.CallTool("tool_search", map[string]any{"query": "what has changed in my working copy"})
		case 1:
			return compactiontest.CallTool("tool_call", map[string]any{"name": "git_status", "arguments": map[string]any{"repo_path": "."}})
		default:
			return compactiontest.Say("Nothing has changed.")
		}
	})
	root, err := llmagent.New(llmagent.Config{Name: "helper", Model: deferral.Model(llm), Tools: servers(nil)})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := adkrunner.New(adkrunner.Config{AppName: "app", Agent: root, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range r.Run(context.Background(), "user", "session", genai.NewContentFromText("Is anything new?", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, part := range ev.Content.Parts {
			if part.FunctionCall != nil {
				fmt.Println("The app sees a call of", part.FunctionCall.Name)
			}
		}
	}
	// Output:
	// The model sees tool_search and tool_call: [200 tools deferred to save context. Use tool_search to find them.]
	// The app sees a call of tool_search
	// The app sees a call of git_status
}
