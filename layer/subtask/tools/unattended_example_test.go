package tools_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
	"github.com/adk-go-ext/longsession/layer/subtask"
	"github.com/adk-go-ext/longsession/layer/subtask/tools"
	"github.com/adk-go-ext/longsession/tokens"
)

// unattended.md shows this. The model is dear and answers every message with a call of the same tool.
func Example_unattended() {
	ctx := context.Background()
	calls := 0
	llm := compactiontest.NewModel("gemini-2.5-pro", func(n int, _ *model.LLMRequest) *model.LLMResponse {
		calls = n + 1
		resp := compactiontest.CallTool("glob", map[string]any{"pattern": fmt.Sprintf("**/*%d.go", n)})
		resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 80_000}
		return resp
	})
	small := compactiontest.NewModel("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("Nothing of note.")
	})

	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: llm,
		Guard: guard.Config{
			Turn:     guard.Limits{USD: 1 * tokens.Dollar, ModelCalls: 26},
			Session:  guard.Limits{USD: 20 * tokens.Dollar},
			Watchdog: watchdog.Config{Mode: watchdog.Stop},
			Unpriced: guard.UnpricedRefuse,
		},
		ContextTools: contexttool.Config{Enabled: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stack.Close(ctx)

	files, err := tools.NewFiles(tools.FilesConfig{Root: "."})
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	subtasks, err := stack.Subtasks(subtask.Config{Model: small})
	if err != nil {
		log.Fatal(err)
	}
	agentic, err := subtasks.Wrappers(files.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	root, err := llmagent.New(llmagent.Config{
		Name: "night", Model: stack.Model(llm), Tools: append(files.Tools(), agentic...),
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName: "app", Agent: root, SessionService: stack.Sessions, PluginConfig: stack.PluginConfig(), AutoCreateSession: true,
	})
	if err != nil {
		log.Fatal(err)
	}

	ref := compaction.SessionRef{AppName: "app", UserID: "ops", SessionID: "night"}
	run := func() {
		message := genai.NewContentFromText("Find the files that nobody needs.", genai.RoleUser)
		for event, err := range r.Run(ctx, ref.UserID, ref.SessionID, message, agent.RunConfig{}) {
			var stop *guard.StopError
			if errors.As(err, &stop) {
				fmt.Printf("stopped: %s of the %s: %s of %s\n", stop.Kind, stop.Scope, stop.Spent, stop.Bound)
				return
			}
			if err != nil {
				log.Fatal(err)
			}
			if event.IsFinalResponse() {
				fmt.Println("answered:", event.Content.Parts[0].Text)
			}
		}
	}
	run()
	run()
	fmt.Println(calls, "model calls")
	err = stack.Guard.Reset(ctx, stack.Sessions, ref, guard.ResetOptions{})
	if err != nil {
		log.Fatal(err)
	}
	usage, err := stack.Guard.Usage(ctx, stack.Sessions, ref)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usage.USD, "spent, stopped:", usage.Stopped != nil)
	// Output:
	// answered: [Stopped: the cost ceiling is reached. The work is unfinished.]
	// stopped: cost_ceiling of the turn: $1.0000 of $1.0000
	// 10 model calls
	// $1.0000 spent, stopped: false
}
