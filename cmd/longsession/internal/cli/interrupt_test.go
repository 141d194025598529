package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestInterruptedReplayReportsWhatIsDoneAndLeavesNoHalf(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	page := filepath.Join(folder, "report.html")
	if err := os.WriteFile(page, []byte("the old report"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		if c.ID == "c" {
			interrupt()
			return nil, ctx.Err()
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(ctx, compare, strings.NewReader(talks("a", "b", "c", "d")), "-", "--html", page, "--jobs", "1")
	if end.code != exit.CodeInterrupted {
		t.Errorf("exit code %d, want %d; stderr: %s", end.code, exit.CodeInterrupted, end.stderr)
	}
	if want := "longsession: interrupted: 2 conversations done; " + page + " was not written\n"; end.stderr != want {
		t.Errorf("stderr is %q, want %q", end.stderr, want)
	}
	for _, want := range []string{"\na  ", "\nb  ", "\ntotal so far, 2 "} {
		if !strings.Contains(end.stdout, want) {
			t.Errorf("stdout lacks %q:\n%s", want, end.stdout)
		}
	}
	onlyFiles(t, folder, "report.html")
	if text, err := os.ReadFile(page); err != nil || string(text) != "the old report" {
		t.Errorf("the old report is %q, %v", text, err)
	}
}

func TestInterruptEndsAReplayThatWaitsForStandardInput(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	stdin, feed := io.Pipe()
	t.Cleanup(func() { feed.Close() }) // ends the reading
	go io.WriteString(feed, talks("a"))

	stdout := &written{seen: func(all string) {
		if strings.Contains(all, "\na  ") {
			interrupt()
		}
	}}
	var stderr bytes.Buffer
	code := execute(ctx, rootCommand(playsFine), []string{"replay", "-"}, stdin, stdout, &stderr)
	if code != exit.CodeInterrupted || stderr.String() != "longsession: interrupted: 1 conversation done\n" {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}

func TestWhatWasPlayedOutOfTurnCountsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		if c.ID == "slow" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if c.ID == "last" { // its worker has played "quick" before
			interrupt()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(ctx, compare, strings.NewReader(talks("slow", "quick", "last")), "-", "--jobs", "2")
	if end.code != exit.CodeInterrupted || !strings.Contains(end.stderr, "interrupted: 1 conversation done") {
		t.Errorf("exit code %d, stderr %q", end.code, end.stderr)
	}
	if !strings.Contains(end.stdout, "\nquick ") || strings.Contains(end.stdout, "\nslow ") {
		t.Errorf("stdout:\n%s", end.stdout)
	}
}

func TestInterruptInTheTotalOfJSON(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		if c.ID == "b" {
			interrupt()
			return nil, ctx.Err()
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(ctx, compare, strings.NewReader(talks("a", "b")), "-", "--json", "--jobs", "1")
	if end.code != exit.CodeInterrupted || !strings.Contains(end.stdout, `"conversations":1,`) || !strings.Contains(end.stdout, `"complete":false`) {
		t.Errorf("exit code %d, stdout:\n%s", end.code, end.stdout)
	}
}
