package chat_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/agent/workflowagents/parallelagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// A part of an answer is on the screen before the model says the next.
func TestEachPartIsShownAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	llm := plays(func(ctx context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		for _, text := range []string{"one ", "two ", "three"} {
			if !yield(part(text), nil) {
				return
			}
			select {
			case <-next:
			case <-ctx.Done():
				return
			}
		}
		yield(compactiontest.Say("one two three"), nil)
	})
	k := begin(t, setup{model: llm})
	k.types("Count.")
	for _, shown := range []string{"one ", "one two ", "one two three"} {
		k.out.await(t, shown)
		next <- struct{}{}
	}
	k.leaves()
	if want := "one two three\n"; k.out.String() != want {
		t.Errorf("the screen shows %q, want %q", k.out, want)
	}
}

// Agents that speak at the same time are shown one after the other, each text whole and once.
func TestAgentsThatStreamAtOnceAreNotMixed(t *testing.T) {
	t.Parallel()
	begun, spoken := make(chan struct{}), make(chan struct{})
	first := plays(func(ctx context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(part("red "), nil)
		close(begun)
		<-spoken
		yield(part("green "), nil)
		yield(compactiontest.Say("red green blue"), nil)
	})
	second := plays(func(ctx context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		<-begun
		yield(part("1 "), nil)
		yield(compactiontest.Say("1 2 3"), nil)
		close(spoken)
	})
	stack, err := longsession.New(session.InMemoryService(), longsession.Config{Model: first, Compaction: compaction.Config{Summarizer: &compactiontest.Oracle{}, InvocationThreshold: 5}})
	if err != nil {
		t.Fatal(err)
	}
	defer stack.Close(context.Background())
	agents := make([]agent.Agent, 2)
	for i, llm := range []model.LLM{first, second} {
		if agents[i], err = llmagent.New(llmagent.Config{Name: []string{"colors", "numbers"}[i], Model: stack.Model(llm)}); err != nil {
			t.Fatal(err)
		}
	}
	both, err := parallelagent.New(parallelagent.Config{AgentConfig: agent.Config{Name: "both", SubAgents: agents}})
	if err != nil {
		t.Fatal(err)
	}
	out := newScreen()
	cfg := chat.Config{Agent: both, Stack: stack, Session: ref, In: strings.NewReader("Count.\n"), Out: out, Err: newScreen()}
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if want := "[colors] red green blue\n[numbers] 1 2 3\n"; out.String() != want {
		t.Errorf("the chat wrote %q, want %q", out, want)
	}
}

// TestAWholeIsNotRepeated: providers trim blanks off the whole, and a callback may have changed it.
func TestAWholeIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts       []string
		whole, want string
	}{
		"the same":   {[]string{"one ", "two"}, "one two", "one two\n"},
		"longer":     {[]string{"one ", "two"}, "one two three", "one two three\n"},
		"trimmed":    {[]string{"\n one ", "two \n"}, "one two", "\n one two \n"},
		"other":      {[]string{"one ", "two"}, "(left out)", "one two\n(left out)\n"},
		"not stream": {nil, "one two", "one two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llm := plays(func(_ context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				for _, text := range c.parts {
					if !yield(part(text), nil) {
						return
					}
				}
				yield(compactiontest.Say(c.whole), nil)
			})
			cfg, out, _ := piped(t, llm, "Count.\n")
			if err := run(t, cfg); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("the screen shows %q, want %q", out, c.want)
			}
		})
	}
}

func TestAnAnswerThatIsNotCompleteIsNamed(t *testing.T) {
	t.Parallel()
	ends := func(why genai.FinishReason, text string) *model.LLMResponse {
		return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), FinishReason: why}
	}
	for name, c := range map[string]struct {
		answers []*model.LLMResponse // to the second message
		note    string
	}{
		"whole":  {[]*model.LLMResponse{part("All"), ends(genai.FinishReasonStop, "All of it")}, ""},
		"limit":  {[]*model.LLMResponse{part("All"), ends(genai.FinishReasonMaxTokens, "All of")}, "limit of output tokens"},
		"safety": {[]*model.LLMResponse{ends(genai.FinishReasonSafety, "All")}, "ended its answer early: SAFETY"},
		"cut":    {[]*model.LLMResponse{part("All"), ends("", "All")}, "the answer may be cut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
				if n == 0 {
					yield(compactiontest.Say("Hello."), nil)
					return
				}
				for _, r := range c.answers {
					yield(r, nil)
				}
			})
			cfg, out, errs := piped(t, llm, "Hello.\nTell me all.\n")
			if err := run(t, cfg); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "All") {
				t.Errorf("the answer is not shown: %q", out)
			}
			notes := 0
			for line := range strings.Lines(errs.String()) {
				if !strings.HasPrefix(line, "📊") {
					notes++
				}
			}
			if !strings.Contains(errs.String(), c.note) || (notes > 0) != (c.note != "") {
				t.Errorf("notes %q, want %q", errs, c.note)
			}
		})
	}
}

func TestThoughtsAreNotShown(t *testing.T) {
	t.Parallel()
	llm := plays(func(_ context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		thought := &genai.Part{Text: "Let me think. ", Thought: true}
		first := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{thought}}, Partial: true}
		all := &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{thought, {Text: "42"}}}}
		_ = yield(first, nil) && yield(part("42"), nil) && yield(all, nil)
	})
	cfg, out, _ := piped(t, llm, "Why?\n")
	if err := run(t, cfg); err != nil {
		t.Fatal(err)
	}
	if out.String() != "42\n" {
		t.Errorf("the chat wrote %q", out)
	}
}

// closed is a pipe that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An agent must not go on spending money on an answer that nobody reads.
func TestAnOutputThatNobodyReadsEndsTheTurn(t *testing.T) {
	t.Parallel()
	again := toolOf(t, "again", false, func(agent.ToolContext) (map[string]any, error) { return map[string]any{"result": "more"}, nil })
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 10 {
			yield(compactiontest.Say("Done."), nil)
			return
		}
		r := compactiontest.CallTool("again", map[string]any{"n": n})
		r.Content.Parts = append([]*genai.Part{{Text: "Working on it."}}, r.Content.Parts...)
		yield(r, nil)
	})
	cfg, _, _ := piped(t, llm, "Go on.\nAnd on.\n", []tool.Tool{again}...)
	cfg.Out = closed{}
	if err := run(t, cfg); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("the chat ended with %v", err)
	}
	if n := llm.calls(); n != 1 {
		t.Errorf("the model was called %d times, want once", n)
	}
}

// A turn that fails is told, and the person can go on.
func TestAFailedTurnIsToldAndTheChatGoesOn(t *testing.T) {
	t.Parallel()
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 0 {
			yield(nil, errors.New("the server is on fire"))
			return
		}
		yield(compactiontest.Say("Here I am."), nil)
	})
	k := begin(t, setup{model: llm})
	k.types("Hello?")
	k.err.await(t, "the server is on fire")
	k.types("And now?")
	k.leaves()
	if k.out.String() != "Here I am.\n" {
		t.Errorf("the screen shows %q", k.out)
	}
}

// Without a person, the next message would be sent into the blue.
// The error of a connection that is lost is often the end of a file, which is not the end of the conversation.
func TestATurnThatEndsWithTheEndOfAFileHasFailed(t *testing.T) {
	t.Parallel()
	llm := plays(func(_ context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(nil, fmt.Errorf("the server cannot be reached: %w", io.EOF))
	})
	cfg, _, _ := piped(t, llm, "Hello.\n")
	if err := run(t, cfg); err == nil || !strings.Contains(err.Error(), "the server cannot be reached") {
		t.Errorf("the chat of a pipe ended with %v", err)
	}
	cfg, _, _ = piped(t, llm, "")
	cfg.Prompt = "Hello."
	if err := run(t, cfg); err == nil || !strings.Contains(err.Error(), "the server cannot be reached") {
		t.Errorf("the chat of one message ended with %v", err)
	}
}

func TestAFailedTurnEndsAPipe(t *testing.T) {
	t.Parallel()
	failure := errors.New("the server is on fire")
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(nil, failure)
	})
	cfg, _, _ := piped(t, llm, "Hello?\nAnd now?\n")
	if err := run(t, cfg); !errors.Is(err, failure) {
		t.Errorf("the chat ended with %v", err)
	}
	if n := llm.calls(); n != 1 {
		t.Errorf("the model was called %d times, want once", n)
	}
}
