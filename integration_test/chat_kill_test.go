package integration_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat"
	"github.com/adk-go-ext/longsession/cmd/longsession/chat/sessionlock"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/requests"
	"github.com/adk-go-ext/longsession/persistence"
)

// stuckModel streams half an answer, or calls a tool, and never ends, for messages that ask for it.
type stuckModel struct{ requests [][]*genai.Content }

func (*stuckModel) Name() string { return "gemini-2.5-flash" }

func (m *stuckModel) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		m.requests = append(m.requests, req.Contents)
		newest := req.Contents[len(req.Contents)-1].Parts[0].Text
		switch {
		case strings.HasPrefix(newest, "Stream"):
			half := compactiontest.Say("This is half of")
			half.Partial = true
			if yield(half, nil) {
				<-ctx.Done()
			}
		case strings.HasPrefix(newest, "Call"):
			yield(compactiontest.CallTool("stuck", nil), nil)
		default:
			yield(compactiontest.Say("I have heard: "+newest), nil)
		}
	}
}

// talkOver runs a chat over a file, as an app would.
func talkOver(ctx context.Context, file string, in io.Reader, out, errs io.Writer) (requests [][]*genai.Content, err error) {
	sessions, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	llm := &stuckModel{}
	stack, err := longsession.New(sessions, longsession.Config{Model: llm, Compaction: compaction.Config{Summarizer: &compactiontest.Oracle{}}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stack.Close(context.WithoutCancel(ctx))) }()
	stuck, err := functiontool.New(functiontool.Config{Name: "stuck", Description: "It never returns."}, func(ctx agent.ToolContext, _ struct{}) (map[string]any, error) {
		_, _ = io.WriteString(out, "The tool runs.")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	bot, err := llmagent.New(llmagent.Config{Name: "bot", Model: stack.Model(llm), Tools: append(stack.Tools(), tool.Tool(stuck))})
	if err != nil {
		return nil, err
	}
	c, err := chat.New(chat.Config{
		Agent: bot, Stack: stack, Session: compaction.SessionRef{AppName: "app", UserID: "ada", SessionID: "talk"}, In: in, Out: out, Err: errs,
		Lock: func(_ context.Context, ref compaction.SessionRef) (func(), error) {
			return sessionlock.Take(file, ref.AppName, ref.UserID, ref.SessionID)
		},
	})
	if err != nil {
		return nil, err
	}
	err = c.Run(ctx)
	return llm.requests, err
}

// A chat is killed while it streams, in a tool, and between two turns. The next one is let in, has every message, and
// sends requests that providers accept.
func TestAKilledChatIsResumedWithAllThatWasSaid(t *testing.T) {
	t.Parallel()
	if file := os.Getenv("LONGSESSION_TEST_CHAT"); file != "" {
		_, err := talkOver(context.Background(), file, os.Stdin, os.Stdout, io.Discard)
		t.Fatal("the chat has ended by itself:", err)
	}
	for name, c := range map[string]struct{ message, until string }{
		"streaming": {"Stream the story of the mill.", "This is half of"},
		"tool":      {"Call the tool for the mill.", "The tool runs."},
		"between":   {"Remember the mill.", "I have heard: Remember the mill.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "chat.db")
			child := exec.Command(os.Args[0], "-test.run=^TestAKilledChatIsResumedWithAllThatWasSaid$", "-test.count=1")
			child.Env = append(os.Environ(), "LONGSESSION_TEST_CHAT="+file)
			in, err := child.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, "My name is Mara Quist.\n"+c.message+"\n"); err != nil {
				t.Fatal(err)
			}
			shown := readUntil(t, out, c.until)
			if _, err := talkOver(t.Context(), file, strings.NewReader("Let me in.\n"), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "in use") {
				t.Errorf("a second chat ended with %v while the first one runs", err)
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // it was killed
			var again, errs bytes.Buffer
			sent, err := talkOver(t.Context(), file, strings.NewReader("Are you there?\n"), &again, &errs)
			if err != nil {
				t.Fatalf("the next chat ended with %v; the first one had shown\n%s", err, shown)
			}
			if again.String() != "I have heard: Are you there?\n" || !strings.Contains(errs.String(), "> "+c.message) {
				t.Errorf("the next chat shows\n%s%s", again.String(), errs.String())
			}
			for _, said := range []string{"My name is Mara Quist.", c.message, "Are you there?"} {
				if !strings.Contains(canonical(sent[len(sent)-1]), said) {
					t.Errorf("the model does not hear %q", said)
				}
			}
			for _, contents := range sent {
				if problems := requests.Problems(contents); len(problems) > 0 {
					t.Errorf("a provider refuses the request: %q", problems)
				}
			}
		})
	}
}

// readUntil reads until the text comes, and returns what was read.
func readUntil(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var read strings.Builder
	b := make([]byte, 256)
	for !strings.Contains(read.String(), text) {
		n, err := r.Read(b)
		read.Write(b[:n])
		if err != nil {
			t.Fatalf("%q never came: %v\n%s", text, err, read.String())
		}
	}
	return read.String()
}
