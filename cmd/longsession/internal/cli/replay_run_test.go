package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

func TestEveryKindOfFindingEndsWithOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*replay.Report)
		says  string
		args  []string
		code  int
	}{
		"nothing":   {func(*replay.Report) {}, "", nil, exit.CodeOK},
		"orphans":   {func(r *replay.Report) { r.Orphans = 2 }, "a: 2 orphans: a call was sent without its result", nil, exit.CodeFindings},
		"hidden":    {func(r *replay.Report) { r.Hidden, r.Problems = 1, []string{"event e7 is gone"} }, "a: event e7 is gone", nil, exit.CodeFindings},
		"calls":     {func(r *replay.Report) { r.With.ModelCalls++ }, "a: 1 model call more than without compaction", nil, exit.CodeFindings},
		"over":      {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001}} }, "a: 1 prompt over the limit of 1,000 tokens", nil, exit.CodeFindings},
		"explained": {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001, Alone: true, Unavoidable: true}} }, "one event exceeds the window alone", nil, exit.CodeOK},
		"pinned":    {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001, Unavoidable: true}} }, "the events that must stay raw exceed the window", nil, exit.CodeOK},
		"off":       {func(r *replay.Report) { r.Over = []replay.Overlong{{Tokens: 1001}} }, "Prompts over the context window", []string{"--summarizer", "off"}, exit.CodeOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare := func(ctx context.Context, conv *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
				reports, err := playsFine(ctx, conv, policies, opts)
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
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		switch c.ID {
		case "a":
			<-second
		case "b":
			close(second)
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c", "d")), "-", "--jobs", "2", "--json")
	var order []int
	for _, id := range []string{`"id":"a"`, `"id":"b"`, `"id":"c"`, `"id":"d"`} {
		order = append(order, strings.Index(end.stdout, id))
	}
	if end.code != exit.CodeOK || order[0] < 0 || order[0] > order[1] || order[1] > order[2] || order[2] > order[3] {
		t.Errorf("exit code %d, order %v:\n%s", end.code, order, end.stdout)
	}
}

func TestConversationThatCannotBePlayedEndsWithThree(t *testing.T) {
	t.Parallel()
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		if c.ID == "b" {
			return nil, errors.New("the runner tripped")
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c")), "-")
	if want := "longsession: <stdin>:2: conversation b: cannot be played: the runner tripped (to leave it out and go on, use --keep-going)\n"; end.code != exit.CodeFailed || end.stderr != want {
		t.Errorf("exit code %d, stderr %q, want %q", end.code, end.stderr, want)
	}
	if !strings.Contains(end.stdout, "\ntotal so far, 1 ") {
		t.Errorf("stdout:\n%s", end.stdout)
	}
	end = replayed(t.Context(), compare, strings.NewReader(talks("a", "b", "c")), "-", "--keep-going")
	if end.code != exit.CodeFailed || !strings.Contains(end.stdout, "\ntotal of 2 ") || !strings.Contains(end.stdout, "conversation b: cannot be played: the runner tripped") {
		t.Errorf("with --keep-going: exit code %d, stdout:\n%s", end.code, end.stdout)
	}
}

func TestFailedPlayLeavesNoSessionInTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kept.db")
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		_, err := policies[0].Service.Create(ctx, &session.CreateRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID})
		if err != nil {
			return nil, err
		}
		if c.ID == "b" {
			return nil, errors.New("the runner tripped")
		}
		return playsFine(ctx, c, policies, opts)
	}
	if end := replayed(t.Context(), compare, strings.NewReader(talks("a", "b")), "-", "--keep-going", "--db", file); end.code != exit.CodeFailed {
		t.Fatalf("exit code %d, stderr %q", end.code, end.stderr)
	}
	if got := storedIn(t, file); got != "[a]" {
		t.Errorf("the sessions %s are in the file, want [a]", got)
	}
}

// Another process may store a session of the same name while this one plays.
func TestFailedPlayLeavesTheSessionsOfOthers(t *testing.T) {
	t.Parallel()
	for name, tries := range map[string]bool{"it is there already": true, "the run fails before": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "kept.db")
			compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
				request := &session.CreateRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: c.ID}
				other, err := persistence.NewSQLiteSessionService(file)
				if err != nil {
					return nil, err
				}
				defer other.Close()
				if _, err := other.Create(ctx, request); err != nil {
					return nil, err
				}
				if tries {
					_, err = policies[0].Service.Create(ctx, request)
					return nil, err
				}
				return nil, errors.New("the runner tripped")
			}
			end := replayed(t.Context(), compare, strings.NewReader(talks("a")), "-", "--db", file)
			if end.code != exit.CodeFailed || tries && !strings.Contains(end.stderr, "session already exists") {
				t.Fatalf("exit code %d, stderr %q", end.code, end.stderr)
			}
			if got := storedIn(t, file); got != "[a]" {
				t.Errorf("the sessions %s are in the file, want [a]: that of the other process", got)
			}
		})
	}
}

// storedIn lists the sessions of a file.
func storedIn(t *testing.T, file string) string {
	t.Helper()
	stored, err := persistence.NewSQLiteSessionService(file)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	list, err := stored.List(t.Context(), &session.ListRequest{AppName: replay.AppName})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range list.Sessions {
		ids = append(ids, s.ID())
	}
	return fmt.Sprint(ids)
}

func TestReportThatAppearsMeanwhileAsADatabaseStays(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "report.html")
	compare := func(ctx context.Context, c *conversation.Conversation, policies []replay.Policy, opts replay.Options) ([]*replay.Report, error) {
		stored, err := persistence.NewSQLiteSessionService(page)
		if err != nil {
			return nil, err
		}
		if err := stored.Close(); err != nil {
			return nil, err
		}
		return playsFine(ctx, c, policies, opts)
	}
	end := replayed(t.Context(), compare, strings.NewReader(talks("a")), "-", "--html", page)
	if want := "longsession: --html " + page + " is a SQLite database: name another file\n"; end.code != exit.CodeUsage || end.stderr != want {
		t.Errorf("exit code %d, stderr %q, want %q", end.code, end.stderr, want)
	}
	if got := storedIn(t, page); got != "[]" {
		t.Errorf("the database holds %s", got)
	}
}

func TestFileThatCannotBeOpenedEndsTheRunDespiteKeepGoing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "new.db")
	end := replayed(t.Context(), playsFine, &meddling{Reader: strings.NewReader(talks("a", "b")), file: file, data: []byte("of somebody else")}, "-", "--keep-going", "--db", file)
	if end.code != exit.CodeUsage || !strings.HasPrefix(end.stderr, "longsession: --db: ") || strings.Contains(end.stdout, "\na  ") {
		t.Errorf("exit code %d, stderr %q, stdout:\n%s", end.code, end.stderr, end.stdout)
	}
}

// meddling puts a file somewhere when it is read from: --db was looked at by then, and is not open
// yet.
type meddling struct {
	io.Reader
	file string
	data []byte
}

func (m *meddling) Read(p []byte) (int, error) {
	// Once: a reader that reads ahead would write while the test already opens the file.
	if m.data != nil {
		if err := os.WriteFile(m.file, m.data, 0o644); err != nil {
			return 0, err
		}
		m.data = nil
	}
	return m.Reader.Read(p)
}

func TestOutputThatCannotBeWrittenEndsTheRun(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	code := execute(t.Context(), rootCommand(playsFine), []string{"replay", "-"}, strings.NewReader(talks("a", "b")), noSpace{}, &stderr)
	if code != exit.CodeFailed || stderr.String() != "longsession: the report could not be written: no space left\n" {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}

// noSpace is a disk without space.
type noSpace struct{}

func (noSpace) Write([]byte) (int, error) { return 0, errors.New("no space left") }
