package summarizer_test

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/summarizer"
)

// conversation returns the window of both examples.
func conversation() []*session.Event {
	return events(
		user("Please book the 18:30 train to Lisbon for 2025-04-02. I am Kim, and my address is kim@example.org."),
		agent("Sure, one moment. I will look for a seat and tell you as soon as there is something to report."),
		call("c1", "book_train", map[string]any{"to": "Lisbon", "date": "2025-04-02"}),
		response("c1", "book_train", map[string]any{"ticket": "T-4711", "price_eur": 84.5}),
		agent("Done. Your ticket is T-4711\nand costs 84.50 EUR."),
	)
}

func ExampleTranscript() {
	text, err := summarizer.Transcript(conversation(), 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// user: Please book the 18:30 train to Lisbon for 2025-04-02. I am Kim, and my address is kim@example.org.
	// agent [model]: Sure, one moment. I will look for a seat and tell you as soon as there is something to report.
	// agent [model] calls book_train: {"date":"2025-04-02","to":"Lisbon"}
	// agent [user] gets the result of book_train: {"price_eur":84.5,"ticket":"T-4711"}
	// agent [model]: Done. Your ticket is T-4711\nand costs 84.50 EUR.
}

func ExampleExtractive() {
	var s summarizer.Extractive
	res, err := s.Summarize(context.Background(), summarizer.Request{Events: conversation(), MaxTokens: 120})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := summarizer.Prose(res.Content)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// Opening request: Please book the 18:30 train to Lisbon for 2025-04-02. I am Kim, and my address is kim@example.org.
	// agent: Done. Your ticket is T-4711 and costs 84.50 EUR.
	// Tools: book_train ok
}
