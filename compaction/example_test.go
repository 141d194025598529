package compaction_test

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
)

// The service goes where the app's session service went; everything else stays as it is. README.md
// quotes this code, and a test compares the two.
func ExampleNewCompactionService() {
	ctx := context.Background()
	llm := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("The code is noted, on the page of the ledger that you have named, under its date.")
	})
	root, err := llmagent.New(llmagent.Config{Name: "clerk", Model: llm})
	if err != nil {
		log.Fatal(err)
	}

	// llm writes the summaries: normally the agent's own model.
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{Model: llm})
	if err != nil {
		log.Fatal(err)
	}
	defer sessions.Close(ctx)

	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		log.Fatal(err)
	}

	chat := compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}
	page := strings.Repeat("It goes on the next page of the ledger, under its date. ", 20)
	for i := 1; i <= 120; i++ {
		msg := genai.NewContentFromText(fmt.Sprintf("The code for item %d is %s. %s", i, compactiontest.Fact(i), page), genai.RoleUser)
		for _, err := range r.Run(ctx, chat.UserID, chat.SessionID, msg, agent.RunConfig{}) {
			if err != nil {
				log.Fatal(err)
			}
		}
		// Only so that the numbers below are the same on every run: an app need not wait.
		if err := sessions.Flush(ctx, chat); err != nil {
			log.Fatal(err)
		}
	}

	status, err := sessions.Status(ctx, chat)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("120 turns: %d events stored, %d shown, %d of them summaries\n", status.StoredEvents, status.VisibleEvents, len(status.Summaries))
	// Output: 120 turns: 243 events stored, 49 shown, 3 of them summaries
}
