package chat_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

var ref = compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "talk"}

// piped returns a chat over memory without a terminal.
func piped(t *testing.T, llm model.LLM, in string, tools ...tool.Tool) (cfg chat.Config, out, errs *screen) {
	t.Helper()
	compactions := &chat.Compactions{}
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{
		Model: llm, Compaction: compaction.Config{Summarizer: &compactiontest.Oracle{}, Observer: compactions.Observe, Synchronous: true, InvocationThreshold: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Close(context.Background()) })
	cfg, out, errs = pipedOver(t, stack, llm, in, tools...)
	cfg.Compactions = compactions
	return cfg, out, errs
}

func pipedOver(t testing.TB, stack *longsession.Stack, llm model.LLM, in string, tools ...tool.Tool) (cfg chat.Config, out, errs *screen) {
	t.Helper()
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: stack.Model(llm), Tools: append(stack.Tools(), tools...)})
	if err != nil {
		t.Fatal(err)
	}
	out, errs = newScreen(), newScreen()
	return chat.Config{Agent: bot, Stack: stack, Session: ref, In: strings.NewReader(in), Out: out, Err: errs}, out, errs
}

// config returns a chat over memory with an agent that repeats what it is told.
func config(t *testing.T, in string, out, errs *bytes.Buffer) chat.Config {
	t.Helper()
	cfg, _, _ := piped(t, echo(), in)
	cfg.Out, cfg.Err = out, errs
	return cfg
}

// echo is a model that repeats what it is told.
func echo() model.LLM {
	return compactiontest.NewModel("gemini-2.5-flash", func(_ int, req *model.LLMRequest) *model.LLMResponse {
		last := req.Contents[len(req.Contents)-1].Parts[0].Text
		return compactiontest.Say("You said: " + last)
	})
}

func run(t *testing.T, cfg chat.Config) error {
	t.Helper()
	c, err := chat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(t.Context())
}

// Each line of a pipe is a message, and its answer goes to Out alone.
func TestEachLineOfAPipeIsAnswered(t *testing.T) {
	t.Parallel()
	cfg, out, errs := piped(t, echo(), "Hello.\n\nHow are you?\n")
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if want := "You said: Hello.\nYou said: How are you?\n"; out.String() != want {
		t.Errorf("out %q, want %q; err %q", out.String(), want, errs.String())
	}
	if !strings.Contains(errs.String(), "📊") {
		t.Errorf("no line about the window: %q", errs.String())
	}
}

// A person who counts the turns finds that the sentence is true.
func TestTheNextCompactionComesWhenItWasTold(t *testing.T) {
	t.Parallel()
	cfg, _, errs := piped(t, echo(), strings.Repeat("Message "+strings.Repeat("and so on ", 60)+"\n", 24))
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	turns, told, compactions := 0, 0, 0
	for line := range strings.Lines(errs.String()) {
		switch {
		case strings.HasPrefix(line, "📊"):
			turns++
		case strings.HasPrefix(line, "Summarized "):
			if compactions++; compactions > 1 && turns != told {
				t.Errorf("compaction %d comes after turn %d, and was told for turn %d:\n%s", compactions, turns, told, errs)
			}
		default:
			_, after, _ := strings.Cut(line, " or after ")
			var left int
			if _, err := fmt.Sscanf(after, "%d turns;", &left); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			told = turns + left
		}
	}
	if compactions < 3 {
		t.Errorf("%d compactions only:\n%s", compactions, errs)
	}
}

// After the fifth turn the history is summarized, and the person is told.
func TestACompactionIsTold(t *testing.T) {
	t.Parallel()
	in := ""
	for i := range 8 {
		in += fmt.Sprintf("Message %d %s\n", i, strings.Repeat("and so on ", 60))
	}
	cfg, _, errs := piped(t, echo(), in)
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(errs.String(), "Summarized ") || !strings.Contains(errs.String(), "The next is due at ") {
		t.Errorf("err:\n%s", errs.String())
	}
}

// A message that is not UTF-8 is sent as far as it can be read, and the person is told.
func TestAMessageThatIsNotUTF8IsTold(t *testing.T) {
	t.Parallel()
	cfg, out, errs := piped(t, echo(), "gr\xfc\xdfe\nplain\n")
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if want := "You said: gr\uFFFDe\nYou said: plain\n"; out.String() != want {
		t.Errorf("the chat wrote %q, want %q", out, want)
	}
	if n := strings.Count(errs.String(), "The message has bytes that are not UTF-8."); n != 1 {
		t.Errorf("it is told %d times, want once:\n%s", n, errs)
	}
}
