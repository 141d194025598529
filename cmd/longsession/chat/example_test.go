package chat_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
)

// A program of its own gives the chat the streams of the process. Here, a line is typed and nobody reads the notes.
func Example() {
	llm := echo() // your model
	compactions, alerts := &chat.Compactions{}, &chat.Alerts{}
	cfg := longsession.Config{Model: llm}
	cfg.Compaction.Observer, cfg.Guard.Observer = compactions.Observe, alerts.Observe
	stack, err := longsession.New(session.InMemoryService(), cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer stack.Close(ctx)
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: stack.Model(llm), Tools: stack.Tools()})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := chat.New(chat.Config{
		Agent: bot, Stack: stack, Session: compaction.SessionRef{AppName: "app", UserID: "ada"},
		Compactions: compactions, Alerts: alerts,
		In: strings.NewReader("Good morning!\n"), Out: os.Stdout, Err: new(strings.Builder), // os.Stdin, os.Stdout, os.Stderr
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: You said: Good morning!
}
