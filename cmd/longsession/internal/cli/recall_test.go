package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	ct "github.com/adk-go-ext/longsession/compactiontest"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// addresses is a session with two addresses, a summary that repeats the first, and other talk.
func addresses() *ct.History {
	h := (&ct.History{}).User("i1", "I live at 4 Mill Lane in Selkirk, on the second floor.").Agent("i1", "bot", "Thank you.")
	for i := range 6 {
		id := fmt.Sprintf("t%d", i)
		h.User(id, fmt.Sprintf("And what is number %d?", i)).Agent(id, "bot", "It is as before, and nothing has changed.")
	}
	return h.User("i9", "My office is at 9 Quay Street.").Agent("i9", "bot", "Noted.")
}

func TestRecallFindsWhatASummaryCovers(t *testing.T) {
	t.Parallel()
	h := addresses().Compact("r1", "e1", "e2")
	path := storeSession(t, h, "shop", "ada", "s1")
	code, out, complaints := called(t.Context(), "recall", path, "s1", "Mill Lane")
	if code != exit.CodeOK || complaints != "" || !strings.HasPrefix(out, "> #1 ") || !strings.Contains(out, "4 Mill Lane in Selkirk") || strings.Contains(out, "summary") {
		t.Errorf("exit code %d: %s\n%s", code, complaints, out)
	}
}

// An event that cannot be read may be the one that is looked for, so the user must know of it.
func TestRecallSaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	path := storeSession(t, addresses(), "shop", "ada", "s1", "UPDATE events SET content = '{' WHERE seq = 5")
	code, out, complaints := called(t.Context(), "recall", path, "s1", "Quay Street", "--around", "0")
	if code != exit.CodeFailed || !strings.HasPrefix(out, "> #15 ") || !strings.Contains(complaints, "1 event cannot be read, and may have what is looked for") {
		t.Errorf("exit code %d: %s\n%s", code, complaints, out)
	}
}

func TestRecallReadsAFileWithoutAnIndex(t *testing.T) {
	t.Parallel()
	path := storeSession(t, addresses(), "shop", "ada", "s1",
		"DROP TABLE tool_result_chunks", "DROP TABLE tool_result_blobs", "PRAGMA user_version = 2")
	if code, out, complaints := called(t.Context(), "recall", path, "s1", "Quay Street"); code != exit.CodeOK || !strings.Contains(out, "> #15 ") {
		t.Errorf("exit code %d: %s\n%s", code, complaints, out)
	}
}

func TestRecallKeepsToTheSessionItWasAskedAbout(t *testing.T) {
	t.Parallel()
	path := storeSession(t, addresses(), "shop", "ada", "s1",
		"INSERT INTO sessions (app, user, id, created_at, updated_at) VALUES ('shop', 'eve', 's1', '2026-01-01T00:00:00.000000000Z', '2026-01-01T00:00:00.000000000Z')")
	if code, out, complaints := called(t.Context(), "recall", path, "shop/eve/s1", "Mill Lane"); code != exit.CodeOK || out != "nothing was found\n" {
		t.Errorf("exit code %d: %s\n%s", code, complaints, out)
	}
	if code, _, complaints := called(t.Context(), "recall", path, "s1", "Mill Lane"); code != exit.CodeUsage || !strings.Contains(complaints, "2 sessions are named") {
		t.Errorf("exit code %d: %s", code, complaints)
	}
}

// A recording may contain what a terminal obeys, and lines of any length.
func TestRecallFitsATerminalAndObeysNoText(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).User("i", "zephyr \x1b[2J\u202e "+strings.Repeat("a long line of words ", 30)+strings.Repeat("長", 90)).Agent("i", "bot", "ok").Turns(3, "bot")
	path := storeSession(t, h, "shop", "ada", "s1")
	for _, columns := range []int{40, 60, 100} {
		text, code := onTerminal(t, columns, "recall", path, "s1", "zephyr", "--whole")
		if code != exit.CodeOK || !strings.Contains(text, `\x1b[2J\u202e`) {
			t.Errorf("%d columns, exit code %d:\n%s", columns, code, text)
		}
		for line := range strings.Lines(text) {
			if width := uniseg.StringWidth(strings.TrimRight(line, "\r\n")); width > columns {
				t.Errorf("%d columns: a line of %d: %q", columns, width, line)
			}
		}
	}
}

func TestAnInterruptedRecallShowsNothing(t *testing.T) {
	t.Parallel()
	path := storeSession(t, addresses(), "shop", "ada", "s1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, out, complaints := called(ctx, "recall", path, "s1", "Mill Lane"); code != exit.CodeInterrupted || out != "" || complaints != "longsession: interrupted: nothing was shown\n" {
		t.Errorf("exit code %d: %q\n%s", code, complaints, out)
	}
}

func TestRecallIsCompleted(t *testing.T) {
	t.Parallel()
	path := storeSession(t, addresses(), "shop", "ada", "s1")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"recall", path, ""}, []string{"s1"}},
		{[]string{"recall", path, "shop/"}, []string{"shop/ada/s1"}},
		{[]string{"recall", path, "--user", "a"}, []string{"ada"}},
		{[]string{"recall", path, "--app", ""}, []string{"shop"}},
		{[]string{"recall", path, "s1", ""}, nil},
		{[]string{"recall", "missing.db", ""}, nil},
	} {
		if offered, _ := completed(t, c.args...); !slices.Equal(offered, c.want) {
			t.Errorf("%q: %q, want %q", c.args, offered, c.want)
		}
	}
}
