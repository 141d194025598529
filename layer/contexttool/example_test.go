package contexttool_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/layer/contexttool"
	"github.com/adk-go-ext/longsession/summarizer"
)

// A model reports that a task is finished. When its turn has ended, the turns before it are replaced by a
// checkpoint.
func Example() {
	ctx := context.Background()
	tools := contexttool.Config{Enabled: true, CheckpointTokens: 300}
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), tools.Compaction(compaction.Config{Summarizer: summarizer.Extractive{}}))
	if err != nil {
		log.Fatal(err)
	}
	offered, err := contexttool.New(sessions, tools)
	if err != nil {
		log.Fatal(err)
	}
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: surveyor(), Tools: offered.Tools()})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.New(runner.Config{AppName: "app", Agent: bot, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, message := range []string{"Survey the parser.", "And the lexer?", "Thanks. That is all about those two."} {
		for _, err := range r.Run(ctx, "ada", "chat", genai.NewContentFromText(message, genai.RoleUser), agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := sessions.Close(ctx); err != nil { // waits for the checkpoint
		log.Fatal(err)
	}
	status, err := sessions.Status(ctx, compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range status.Summaries {
		fmt.Printf("%s over %d events: %s\n", s.Kind, s.Events, s.Note)
	}
	fmt.Println(status.Activity.Checkpoints, "checkpoint ever")
	// Output:
	// checkpoint over 4 events: surveyed parser and lexer
	// 1 checkpoint ever
}

// surveyor is a scripted model that reports a finished task when it is thanked.
func surveyor() model.LLM {
	return compactiontest.NewModel("scripted", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		switch last := req.Contents[len(req.Contents)-1].Parts[0]; {
		case strings.HasPrefix(last.Text, "Thanks"):
			return compactiontest.CallTool(contexttool.MarkTaskDoneName, map[string]any{"detail": "surveyed parser and lexer"})
		case last.FunctionResponse != nil:
			return compactiontest.Say("You are welcome.")
		default:
			return compactiontest.Say(strings.Repeat("The function parse has a case for every token. ", 20))
		}
	})
}
