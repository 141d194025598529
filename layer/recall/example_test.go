package recall_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/summarizer"
)

// A message that summaries have replaced in prompts is found again, word for word. An agent does the same with the
// tools of Recaller.Tools.
func Example() {
	ctx := context.Background()
	sessions, err := compaction.NewCompactionService(session.InMemoryService(), compaction.Config{
		Summarizer: summarizer.Extractive{}, RecallTool: recall.ToolName,
	})
	if err != nil {
		log.Fatal(err)
	}
	chat := compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "chat"}
	resp, err := sessions.Create(ctx, &session.CreateRequest{AppName: chat.AppName, UserID: chat.UserID, SessionID: chat.SessionID})
	if err != nil {
		log.Fatal(err)
	}
	for i, text := range []string{"I live in Porto, and my cat is called Miso.", "What is open on Sunday?", "And on Monday?", "Thanks."} {
		for _, author := range []string{"user", "desk"} {
			ev := session.NewEventWithContext(ctx, fmt.Sprint("turn", i))
			ev.Author, ev.Content = author, genai.NewContentFromText(text, genai.RoleUser)
			if author == "desk" {
				ev.Content = genai.NewContentFromText(strings.Repeat("That is worth an answer of some length. ", 30), genai.RoleModel)
			}
			if err := sessions.AppendEvent(ctx, resp.Session, ev); err != nil {
				log.Fatal(err)
			}
		}
	}
	if _, err := sessions.Compact(ctx, chat, compaction.CompactOptions{KeepRecent: 1}); err != nil {
		log.Fatal(err)
	}
	recaller, err := recall.New(sessions, recall.Config{})
	if err != nil {
		log.Fatal(err)
	}
	found, err := recaller.Search(ctx, chat, recall.Query{Text: "What is the name of her cat?"})
	if err != nil {
		log.Fatal(err)
	}
	for _, passage := range found {
		for _, line := range passage.Lines {
			if line.Found {
				fmt.Printf("turn %d, %s: %s\n", line.Turn, line.Author, line.Text)
			}
		}
	}
	// Output:
	// turn 1, user: I live in Porto, and my cat is called Miso.
}
