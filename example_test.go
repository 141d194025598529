package longsession_test

import (
	"context"
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
)

// The stack gives the agent its model and tools, and the runner its session service and plugins.
func ExampleNew() {
	ctx := context.Background()
	llm := compactiontest.NewModel("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("The code is noted.")
	})

	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model:      llm,
		Compaction: compaction.DefaultConfig(), // after every five turns: by default, so short a chat gets no summary
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stack.Close(ctx)

	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: stack.Model(llm), Tools: stack.Tools()})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{
		AppName:           "app",
		Agent:             root,
		SessionService:    stack.Sessions,
		PluginConfig:      stack.PluginConfig(),
		AutoCreateSession: true,
	})
	if err != nil {
		log.Fatal(err)
	}

	chat := compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}
	for i := 1; i <= 12; i++ {
		msg := genai.NewContentFromText(fmt.Sprintf("The code for item %d is %s, please write it down with care.", i, compactiontest.Fact(i)), genai.RoleUser)
		for _, err := range r.Run(ctx, chat.UserID, chat.SessionID, msg, agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
		}
		// An app need not wait. The example does, so that the numbers below are the same on every run.
		if err := stack.Sessions.Flush(ctx, chat); err != nil {
			log.Fatal(err)
		}
	}

	status, err := stack.Sessions.Status(ctx, chat)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("12 turns: %d events stored, %d shown, %d of them summaries\n", status.StoredEvents, status.VisibleEvents, len(status.Summaries))
	// Output: 12 turns: 26 events stored, 10 shown, 2 of them summaries
}
