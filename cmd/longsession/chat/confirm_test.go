package chat_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/input"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// guarded returns a tool that asks before it runs, a counter of its runs, and a model that calls it in answer to the
// message "Delete it.".
func guarded(t *testing.T) (tool.Tool, *atomic.Int32, *playing) {
	t.Helper()
	runs := &atomic.Int32{}
	type args struct {
		Path string `json:"path"`
	}
	erase, err := functiontool.New(functiontool.Config{Name: "erase", Description: "It erases a file.", RequireConfirmation: true},
		func(_ agent.ToolContext, a args) (map[string]any, error) {
			runs.Add(1)
			return map[string]any{"erased": a.Path}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return erase, runs, plays(func(_ context.Context, _ int, req *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		newest := req.Contents[len(req.Contents)-1].Parts[0]
		if newest.Text == "Delete it." {
			yield(compactiontest.CallTool("erase", map[string]any{"path": strings.Repeat("folder/", 40) + "the-end"}), nil)
			return
		}
		yield(compactiontest.Say("Very well."), nil)
	})
}

func TestAToolThatAsksRunsOnlyAfterYes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer typed
		runs   int32
	}{
		{typed{text: "y"}, 1}, {typed{text: " YES "}, 1}, {typed{text: "n"}, 0}, {typed{text: ""}, 0}, {typed{text: "yesterday"}, 0},
		{typed{err: input.ErrInterrupted}, 0}, {typed{err: io.EOF}, 0},
	} {
		erase, runs, llm := guarded(t)
		k := begin(t, setup{model: llm, tools: []tool.Tool{erase}})
		k.types("Delete it.")
		if prompt := k.prompted(); prompt != "Allow it? [y/N] " {
			t.Fatalf("the chat asks %q", prompt)
		}
		// The arguments are shown whole behind the call's own line, which is shortened.
		_, question, _ := strings.Cut(k.err.String(), "The agent wants to run erase")
		if question = strings.Join(strings.Fields(question), ""); strings.Count(question, "folder/") != 40 || !strings.HasSuffix(question, `the-end"}`) {
			t.Errorf("the person does not see what they allow, and that alone:\n%s", k.err)
		}
		if strings.Contains(k.err.String(), "failed") {
			t.Errorf("a tool that has not run has failed:\n%s", k.err)
		}
		k.person.typed <- c.answer
		k.out.await(t, "Very well.")
		k.leaves()
		if runs.Load() != c.runs {
			t.Errorf("after %+v the tool ran %d times, want %d", c.answer, runs.Load(), c.runs)
		}
	}
}

// A Ctrl-C from elsewhere leaves the question open. So does the end of the process, and the next chat asks again.
func TestAnOpenQuestionIsAskedAgainByTheNextChat(t *testing.T) {
	t.Parallel()
	erase, runs, llm := guarded(t)
	sessions := session.InMemoryService()
	k := begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: sessions})
	k.types("Delete it.")
	k.prompted()
	k.interrupts()
	k.leaves()
	if runs.Load() != 0 {
		t.Fatal("the tool ran")
	}

	k = begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: sessions})
	if prompt := k.prompted(); prompt != "Allow it? [y/N] " {
		t.Fatalf("the next chat begins with %q", prompt)
	}
	k.person.typed <- typed{text: "y"}
	k.out.await(t, "Very well.")
	k.leaves()
	if runs.Load() != 1 {
		t.Errorf("the tool ran %d times, want once", runs.Load())
	}

	k = begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: sessions})
	if prompt := k.prompted(); prompt != "> " {
		t.Errorf("a question that was answered is asked again: %q", prompt)
	}
	k.person.typed <- typed{err: io.EOF}
	if err := k.end(); err != nil {
		t.Error(err)
	}
}

// Somebody who says something else has moved on.
func TestAnOpenQuestionIsNotAskedAfterAnotherMessage(t *testing.T) {
	t.Parallel()
	erase, runs, llm := guarded(t)
	sessions := session.InMemoryService()
	k := begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: sessions})
	k.types("Delete it.")
	k.prompted()
	k.interrupts()
	k.types("Forget it.")
	k.leaves()
	k = begin(t, setup{model: llm, tools: []tool.Tool{erase}, sessions: sessions})
	if prompt := k.prompted(); prompt != "> " {
		t.Errorf("the next chat begins with %q", prompt)
	}
	k.person.typed <- typed{err: io.EOF}
	if err := k.end(); err != nil {
		t.Error(err)
	}
	if runs.Load() != 0 {
		t.Error("the tool ran")
	}
}

// In a pipe the next line is a message, and no answer to a question that its writer has never seen.
func TestWithoutATerminalNothingIsAllowed(t *testing.T) {
	t.Parallel()
	erase, runs, llm := guarded(t)
	cfg, out, errs := piped(t, llm, "Delete it.\ny\n", erase)
	c, err := chat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if runs.Load() != 0 || !strings.Contains(errs.String(), "Refused: ") {
		t.Errorf("the tool ran %d times:\n%s", runs.Load(), errs)
	}
	if want := "Very well.\nVery well.\n"; out.String() != want {
		t.Errorf("the chat wrote %q, want %q: the y is a message", out, want)
	}
}

// The texts of the tool and of the model end up on a terminal.
func TestAQuestionShowsNothingThatATerminalActsOn(t *testing.T) {
	t.Parallel()
	evil := toolOf(t, "evil", true, func(agent.ToolContext) (map[string]any, error) { return nil, errors.New("it ran") })
	llm := plays(func(_ context.Context, n int, _ *model.LLMRequest, yield func(*model.LLMResponse, error) bool) {
		if n == 0 {
			yield(compactiontest.CallTool("evil", map[string]any{"a": "\x1b[2Jx\u202ey"}), nil)
			return
		}
		yield(compactiontest.Say("Well."), nil)
	})
	k := begin(t, setup{model: llm, tools: []tool.Tool{evil}})
	k.types("Do it.")
	k.types("n")
	k.leaves()
	if text := k.err.String(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, "evil") {
		t.Errorf("the screen shows %q", text)
	}
	if got := k.stored(); !slices.Contains(got, "bot: Well.") {
		t.Errorf("stored is %q", got)
	}
}
