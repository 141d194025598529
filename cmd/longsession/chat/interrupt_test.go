package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/input"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/summarizer"
)

// toolOf returns a tool without arguments.
func toolOf(t *testing.T, name string, confirm bool, run func(ctx agent.ToolContext) (map[string]any, error)) tool.Tool {
	t.Helper()
	made, err := functiontool.New(functiontool.Config{Name: name, Description: "It is for tests.", RequireConfirmation: confirm},
		func(ctx agent.ToolContext, _ struct{}) (map[string]any, error) { return run(ctx) })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestCtrlCInAnAnswerStopsItAndKeepsWhatWasSaid(t *testing.T) {
	t.Parallel()
	llm := plays(func(ctx context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n > 0 {
			yield(compactiontest.Say("Gladly."), nil)
			return
		}
		if yield(part("The first step is to "), nil) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	})
	k := begin(t, setup{model: llm})
	k.types("How do I bake bread?")
	k.out.await(t, "The first step is to ")
	k.interrupts()
	k.types("Go on.")
	k.leaves()
	want := []string{"user: How do I bake bread?", "bot: The first step is to ", "user: Go on.", "bot: Gladly."}
	if got := k.stored(); !slices.Equal(got, want) {
		t.Errorf("stored is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	got, err := k.stack.Sessions.Raw(t.Context(), &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	if events := got.Session.Events(); !events.At(1).Interrupted || events.At(3).Interrupted {
		t.Errorf("interrupted: half of an answer %v, a whole one %v", events.At(1).Interrupted, events.At(3).Interrupted)
	}
	if !strings.Contains(llm.heard(), "The first step is to") {
		t.Errorf("the model does not know what it has said:\n%s", llm.heard())
	}
	if want := "The first step is to \nGladly.\n"; k.out.String() != want {
		t.Errorf("the screen shows %q, want %q", k.out, want)
	}
}

func TestCtrlCInAToolStopsTheTurnAndKeepsItsResult(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	slow := toolOf(t, "slow", false, func(ctx agent.ToolContext) (map[string]any, error) {
		close(running)
		<-ctx.Done()
		return map[string]any{"result": "half done"}, nil
	})
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 0 {
			yield(compactiontest.CallTool("slow", nil), nil)
			return
		}
		yield(compactiontest.Say("As you like."), nil)
	})
	k := begin(t, setup{model: llm, tools: []tool.Tool{slow}})
	k.types("Do it.")
	<-running
	k.interrupts()
	k.types("Leave it.")
	k.leaves()
	want := []string{"user: Do it.", "bot calls slow", "bot has the response of slow", "user: Leave it.", "bot: As you like."}
	if adk.Major == 2 { // which stores nothing once the run's context has ended
		want = slices.Delete(want, 2, 3)
	}
	if got := k.stored(); !slices.Equal(got, want) {
		t.Errorf("stored is %q, want %q", got, want)
	}
	if llm.calls() != 2 {
		t.Errorf("the model was called %d times, want 2: not again after Ctrl-C", llm.calls())
	}
}

// A tool that does not listen cannot keep the person in the chat.
func TestCtrlCTwiceLeavesAtOnce(t *testing.T) {
	t.Parallel()
	running, free := make(chan struct{}), make(chan struct{})
	deaf := toolOf(t, "deaf", false, func(agent.ToolContext) (map[string]any, error) {
		close(running)
		<-free
		return map[string]any{"error": "this is late"}, nil
	})
	llm := plays(func(_ context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		call := compactiontest.CallTool("deaf", nil)
		call.Content.Parts = append(call.Content.Parts, &genai.Part{Text: "Wait."})
		yield(call, nil)
	})
	k := begin(t, setup{model: llm, tools: []tool.Tool{deaf}})
	k.types("Do it.")
	<-running
	k.interrupts()
	k.err.await(t, "Press Ctrl-C again to leave at once.")
	k.interrupts()
	if err := k.end(); !errors.Is(err, chat.ErrInterrupted) {
		t.Errorf("the chat ended with %v, want ErrInterrupted", err)
	}
	before := k.out.String() + k.err.String()
	close(free)
	if err := k.stack.Close(context.Background()); err != nil { // it waits for the turn's work
		t.Error(err)
	}
	if after := k.out.String() + k.err.String(); after != before {
		t.Errorf("the turn that was left still writes: %q", strings.TrimPrefix(after, before))
	}
}

// hanging is a summarizer that waits for the end of its context.
type hanging struct{ begun chan struct{} }

func (h hanging) Summarize(ctx context.Context, _ summarizer.Request) (summarizer.Result, error) {
	close(h.begun)
	<-ctx.Done()
	return summarizer.Result{}, ctx.Err()
}

func TestCtrlCInACompactionLeavesTheHistoryAsItIs(t *testing.T) {
	t.Parallel()
	slow := hanging{make(chan struct{})}
	layers := longsession.Config{}
	layers.Compaction.Summarizer = slow
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		yield(compactiontest.Say("Answer "+strings.Repeat("and so on ", 50)), nil)
	})
	k := begin(t, setup{model: llm, layers: layers})
	for range 3 {
		k.types("Message " + strings.Repeat("and so on ", 50))
	}
	k.types("/compact")
	<-slow.begun
	k.interrupts()
	k.types("Are you there?")
	k.leaves()
	if got := k.stored(); len(got) != 8 {
		t.Errorf("%d texts are stored, want 8: %q", len(got), got)
	}
	if !strings.Contains(llm.heard(), "Message and so on") {
		t.Error("the model does not see the history any more")
	}
}

func TestCtrlCAtAnEmptyMessageLeaves(t *testing.T) {
	t.Parallel()
	k := begin(t, setup{model: plays(nil)})
	k.fails(input.ErrInterrupted)
	if err := k.end(); err != nil {
		t.Errorf("the chat ended with %v", err)
	}
}

// Without a terminal nobody could go on, so one Ctrl-C ends the chat.
func TestCtrlCWithoutATerminalEndsTheChat(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"", "What time is it?"} {
		begun := make(chan struct{})
		llm := plays(func(ctx context.Context, _ int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
			close(begun)
			<-ctx.Done()
			yield(nil, ctx.Err())
		})
		press, ended := make(chan struct{}), make(chan error, 1)
		cfg, _, _ := piped(t, llm, "Hello.\nAre you there?\n")
		cfg.Prompt, cfg.Interrupts = prompt, press
		c, err := chat.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- c.Run(context.Background()) }()
		<-begun
		press <- struct{}{}
		if err := <-ended; !errors.Is(err, chat.ErrInterrupted) {
			t.Errorf("with prompt %q, the chat ended with %v, want ErrInterrupted", prompt, err)
		}
	}
}
