package cli

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/replay"
	"github.com/adk-go-ext/longsession/persistence"
)

func TestEveryKindOfFindingEndsWithOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*replay.Report)
		says  string
		args  []string
		code  int
	}{
		"nothing":   {func(*replay.Report) {}, "", nil, exitOK},
		"orphans":   {func(r *replay.Report) { r.Orphans = 2 }, "a: 2 orphans: a call was sent without its result", nil, exitFindings},
		"hidden":    {func(r *replay.Report) { r.Hidden, r.Problems = 1, []string{"event e7 is gone"} }, "a: event e7 is gone", nil, exitFindings},
		"calls":     {func(r *replay.Report) { r.With.ModelCalls++ }, "a: 1 model call more than without compaction", nil, exitFindings},
		"over":      {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001}} }, "a: 1 prompt over the limit of 1,000 tokens", nil, exitFindings},
		"explained": {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001, Alone: true, Unavoidable: true}} }, "one event exceeds it alone", nil, exitOK},
		"pinned":    {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001, Unavoidable: true}} }, "what must stay raw exceeds it", nil, exitOK},
		"off":       {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001}} }, "Prompts over the context window", []string{"--summarizer", "off"}, exitOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare := func(ctx context.Context, conv *conversation.Conversation, opts replay.Options) ([]*replay.Report, error) {
				reports, err := playsFine(ctx, conv, opts)
				c.spoil(reports[0])
				return reports, err
			}
			end := replayed(t.Context(), compare, strings.NewReader(talks("a")), append(c.args, "-")...)
			if end.code != c.code || !strings.Contains(strings.Join(strings.Fields(end.stdout), " "), c.says) {
				t.Errorf("exit code %d, want %d with %q; stdout:\n%s%s", end.code, c.code, c.says, end.stdout, end.stderr)
			}
		})
	}
}

func TestReportsStandInTheOrderOfTheInput(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	compare := func(ctx context.Context, c *conversation.Conversation, opts replay.Options) ([]*replay.Report, error) {
		switch c.ID {
		case "a":
			<-second
		case "b":
			close(second)
		}
		return playsFine(ctx, c, opts)
	}
	end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c", "d")), "-", "--jobs", "2", "--json")
	var order []int
	for _, id := range []string{`"id":"a"`, `"id":"b"`, `"id":"c"`, `"id":"d"`} {
		order = append(order, strings.Index(end.stdout, id))
	}
	if end.code != exitOK || order[0] < 0 || order[0] > order[1] || order[1] > order[2] || order[2] > order[3] {
		t.Errorf("exit code %d, order %v:\n%s", end.code, order, end.stdout)
	}
}

func TestConversationThatCannotBePlayedEndsWithThree(t *testing.T) {
	t.Parallel()
	compare := func(ctx context.Context, c *conversation.Conversation, opts replay.Options) ([]*replay.Report, error) {
		if c.ID == "b" {
			return nil, errors.New("the runner tripped")
		}
		return playsFine(ctx, c, opts)
	}
	end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c")), "-")
	if want := "longsession: <stdin>:2: conversation b: cannot be played: the runner tripped (--keep-going leaves it out and goes on)\n"; end.code != exitFailed || end.stderr != want {
		t.Errorf("exit code %d, stderr %q, want %q", end.code, end.stderr, want)
	}
	if !strings.Contains(end.stdout, "\ntotal so far, 1 ") {
		t.Errorf("stdout:\n%s", end.stdout)
	}
	end = replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c")), "-", "--keep-going")
	if end.code != exitFailed || !strings.Contains(end.stdout, "\ntotal of 2 ") || !strings.Contains(end.stdout, "conversation b: cannot be played: the runner tripped") {
		t.Errorf("with --keep-going: exit code %d, stdout:\n%s", end.code, end.stdout)
	}
}

func TestFailedPlayLeavesNoSessionInTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept.db")
	compare := func(ctx context.Context, c *conversation.Conversation, opts replay.Options) ([]*replay.Report, error) {
		_, err := opts.Store(0).Create(ctx, &session.CreateRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID})
		if err != nil {
			return nil, err
		}
		if c.ID == "b" {
			return nil, errors.New("the runner tripped")
		}
		return playsFine(ctx, c, opts)
	}
	if end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b")), "-", "--keep-going", "--db", file); end.code != exitFailed {
		t.Fatalf("exit code %d, stderr %q", end.code, end.stderr)
	}
	stored, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	list, err := stored.List(t.Context(), &session.ListRequest{AppName: replay.AppName})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 1 || list.Sessions[0].ID() != "a" {
		t.Errorf("%d sessions are in the file, want a alone", len(list.Sessions))
	}
}

func TestOutputThatCannotBeWrittenEndsTheRun(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	code := execute(t.Context(), rootCommand(playsFine), []string{"replay", "-"}, strings.NewReader(talks("a", "b")), noSpace{}, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "longsession: no space left") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}

// noSpace is a disk without space.
type noSpace struct{}

func (noSpace) Write([]byte) (int, error) { return 0, errors.New("no space left") }
