// Command minimal is an ADK app, and the lines that change for longsession. Its model is a script: it needs no key.
package main

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/tokens"
)

type script struct{ prompt int }

func (*script) Name() string { return "gemini-2.5-flash" }
func (s *script) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	s.prompt = tokens.OfContents(req.Contents)
	answer := genai.NewContentFromText("Lamp 4 goes out at 02:10, every night.", "model")
	return func(yield func(*model.LLMResponse, error) bool) { yield(&model.LLMResponse{Content: answer}, nil) }
}

func main() {
	without, _ := chat(session.InMemoryService())                                                                         // as it was
	cfg := longsession.Config{Model: &script{}, Compaction: compaction.Config{InvocationThreshold: 5, Synchronous: true}} // new
	stack := must(longsession.New(session.InMemoryService(), cfg))                                                        // new
	with, first := chat(stack.Sessions)                                                                                   // the same, over the service that is wrapped
	must(0, stack.Close(context.Background()))                                                                            // new
	fmt.Printf("prompt of turn 12: %d tokens without longsession, %d with it\nsummary, from sessions.Get: %s\n", without, with, first[1])
}

// chat is the app. It returns the size of its last prompt, and the paragraphs of the session's first event.
func chat(sessions session.Service) (prompt int, first []string) {
	llm := &script{}
	r := must(runner.New(runner.Config{AppName: "app", Agent: must(llmagent.New(llmagent.Config{Name: "clerk", Model: llm})), SessionService: sessions, AutoCreateSession: true}))
	for turn := range 12 {
		log := fmt.Sprintf("Night %d: %s", turn+1, strings.Repeat("02:09 lamp 4 flickers, 02:10 lamp 4 is out. ", 20))
		for _, err := range r.Run(context.Background(), "ada", "chat", genai.NewContentFromText(log, "user"), agent.RunConfig{}) {
			must(0, err)
		}
	}
	got := must(sessions.Get(context.Background(), &session.GetRequest{AppName: "app", UserID: "ada", SessionID: "chat"}))
	return llm.prompt, strings.Split(got.Session.Events().At(0).Content.Parts[0].Text, "\n\n")
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
