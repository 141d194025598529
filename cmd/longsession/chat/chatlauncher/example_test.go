package chatlauncher_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/cmd/launcher"
	"google.golang.org/adk/cmd/launcher/console"
	"google.golang.org/adk/cmd/launcher/universal"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/chatlauncher"
)

// An app that starts with ADK's launchers gets the chat with one line.
func ExampleNew() {
	llm := echo() // your model
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{Model: llm})
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
	l := universal.NewLauncher(
		chatlauncher.New(chat.Config{Stack: stack, In: strings.NewReader("Good morning!\n"), Out: os.Stdout, Err: new(strings.Builder)}),
		console.NewLauncher(),
	)
	app := &launcher.Config{AgentLoader: agent.NewSingleLoader(bot), SessionService: stack.Sessions}
	if err := l.Execute(ctx, app, []string{"chat"}); err != nil {
		fmt.Println(err)
	}
	// Output: You said: Good morning!
}
