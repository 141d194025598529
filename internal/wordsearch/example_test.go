package wordsearch_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

// A session service without an index of its own finds events with one in memory.
func ExampleMemory_Search() {
	said := func(author, text string, minute int) *session.Event {
		ev := &session.Event{ID: fmt.Sprint(minute), Author: author, Timestamp: time.Date(2026, 3, 1, 9, minute, 0, 0, time.UTC)}
		ev.Content = genai.NewContentFromText(text, genai.RoleUser)
		return ev
	}
	events := []*session.Event{
		said("user", "When does the ferry to Texel leave?", 0),
		said("guide", "Every hour, on the half hour.", 1),
		said("user", "And is the lighthouse open today?", 2),
	}
	found := wordsearch.NewMemory(0)
	key := adk.SessionRef{AppName: "travel", UserID: "ada", SessionID: "trip"}
	hits, err := found.Search(context.Background(), key, events, index.Query{Text: "ferries to Texel", Limit: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		fmt.Println(hit.Position, hit.Event.Content.Parts[0].Text)
	}
	// Output:
	// 0 When does the ferry to Texel leave?
}
