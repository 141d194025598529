package docs_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// economics.md shows this.
func Example_economics() {
	ctx := context.Background()
	inner := session.InMemoryService()
	llm := compactiontest.NewModel("gemini-2.5-flash", func(int, *model.LLMRequest) *model.LLMResponse {
		return compactiontest.Say("A summary.")
	})

	svc, err := compaction.NewCompactionService(inner, compaction.Config{
		Model: llm, AgentModel: "gemini-2.5-flash",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer svc.Close(ctx)

	ref := compaction.SessionRef{AppName: "desk", UserID: "mara", SessionID: "chat"}
	if _, err := svc.Create(ctx, &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		log.Fatal(err)
	}
	status, err := svc.Status(ctx, ref)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Economy.Model, "has prices:", status.Economy.Priced)
	fmt.Println("the first window:", status.Economy.MinWindow, "tokens or more")
	// Output:
	// gemini-2.5-flash has prices: true
	// the first window: 10000 tokens or more
}
