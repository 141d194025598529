package subtask_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/subtask"
)

type path struct {
	Path string `json:"path"`
}

// An agent has a small model read a long file. Its own conversation gets the digest.
func Example() {
	service := session.InMemoryService()
	small := compactiontest.NewModel("gemini-2.5-flash", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			return compactiontest.CallTool("read_file", map[string]any{"path": "main.go"})
		}
		return compactiontest.Say("The server listens on port 8080 (line 212).")
	})
	readFile, err := functiontool.New(functiontool.Config{Name: "read_file", Description: "Reads a file."},
		func(_ agent.ToolContext, p path) (map[string]any, error) {
			return map[string]any{"text": "…5,000 lines of " + p.Path}, nil
		})
	if err != nil {
		panic(err)
	}

	runs, err := subtask.New(subtask.Config{Service: service, Model: small})
	if err != nil {
		panic(err)
	}
	tools, err := runs.Wrappers(readFile)
	if err != nil {
		panic(err)
	}

	large := compactiontest.NewModel("gemini-2.5-pro", func(n int, req *model.LLMRequest) *model.LLMResponse {
		if n == 0 {
			return compactiontest.CallTool(tools[0].Name(), map[string]any{"path": "main.go", "question": "Which port does the server listen on?"})
		}
		answer := req.Contents[len(req.Contents)-1].Parts[0].FunctionResponse.Response
		return compactiontest.Say(fmt.Sprint(answer["digest"]))
	})
	coder, err := llmagent.New(llmagent.Config{Name: "coder", Model: large, Tools: tools})
	if err != nil {
		panic(err)
	}
	app, err := runner.New(runner.Config{AppName: "app", Agent: coder, SessionService: service, AutoCreateSession: true})
	if err != nil {
		panic(err)
	}
	for ev, err := range app.Run(context.Background(), "ada", "main", genai.NewContentFromText("Which port?", genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			panic(err)
		}
		if ev.IsFinalResponse() {
			fmt.Println(ev.Content.Parts[0].Text)
		}
	}
	// Output: The server listens on port 8080 (line 212).
}
