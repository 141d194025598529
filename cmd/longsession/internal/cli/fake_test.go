package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/replaycmd"
)

// ended is what a run of the command left.
type ended struct {
	code           int
	stdout, stderr string
}

// replayed runs the replay command with compare in the place of the real one.
func replayed(ctx context.Context, compare replaycmd.Compare, stdin io.Reader, args ...string) ended {
	var stdout, stderr bytes.Buffer
	code := execute(ctx, rootCommand(compare), append([]string{"replay"}, args...), stdin, &stdout, &stderr)
	return ended{code, stdout.String(), stderr.String()}
}

// talks are conversations of one turn each, as a file's lines.
func talks(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, `{"id":%q,"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello!"}]}`+"\n", id)
	}
	return b.String()
}

// fine is a report in which nothing is wrong.
func fine(c *conversation.Conversation, policy string) *replay.Report {
	sent := replay.Sent{ModelCalls: 1, PromptTokens: 100, LargestPrompt: 100}
	return &replay.Report{
		File: c.File, Line: c.Line, ID: c.ID, Policy: policy, Turns: 1, Messages: 2, Events: 2,
		Without: sent, With: sent, Limit: 1000,
	}
}

// playsFine reports that nothing is wrong.
func playsFine(_ context.Context, c *conversation.Conversation, policies []replay.Policy, _ replay.Options) ([]*replay.Report, error) {
	var reports []*replay.Report
	for _, p := range policies {
		reports = append(reports, fine(c, p.Name))
	}
	return reports, nil
}

// written calls seen with all that was written so far, after every write.
type written struct {
	mu   sync.Mutex
	all  bytes.Buffer
	seen func(all string)
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.all.Write(p)
	w.seen(w.all.String())
	return n, err
}

// onlyFiles fails the test if a folder holds anything else than these files.
func onlyFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}
