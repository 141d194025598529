package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"
)

func TestTheAppGoesOnWhereItWasStoppedAndLoadsLittle(t *testing.T) {
	t.Parallel()
	out := play(t, newFile(t))
	for _, want := range []string{
		"First start.\n  There is no session yet.\n",
		"painter: You said: " + conversation[len(conversation)/2-1], // turn 20, word for word
		"painter: Your budget is " + budget,                         // turn 1, from a summary
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
	}
	// After the first run, and at the start and the end of the second.
	var stored, loaded, seen [3]int
	parts := strings.Split(out, " events are stored, ")
	if len(parts) != 4 {
		t.Fatalf("%d reports, want 3:\n%s", len(parts)-1, out)
	}
	for i := range stored {
		before := parts[i][strings.LastIndexByte(parts[i], '\n')+1:]
		if _, err := fmt.Sscanf(before+" "+parts[i+1], "%d a turn loads %d of them, and the model sees %d messages", &stored[i], &loaded[i], &seen[i]); err != nil {
			t.Fatalf("report %d: %v:\n%s", i, err, out)
		}
		// The view shows every loaded event, with a summary in place of each record.
		if loaded[i] < seen[i] || loaded[i] > 25 {
			t.Errorf("report %d: %d of %d events loaded for %d messages:\n%s", i, loaded[i], stored[i], seen[i], out)
		}
	}
	if turns := len(conversation); stored[1] <= turns || stored[2] <= 2*turns {
		t.Errorf("%v events stored, want two for each turn, and records:\n%s", stored, out)
	}
	if stored[0] != stored[1] || loaded[0] != loaded[1] || seen[0] != seen[1] {
		t.Errorf("the second run does not find what the first one left:\n%s", out)
	}
}

func TestOutputIsTheSameOnEveryRun(t *testing.T) {
	t.Parallel()
	var outputs [2]string
	for i := range outputs {
		file := newFile(t)
		outputs[i] = strings.ReplaceAll(play(t, file), file, "sessions.db")
	}
	if outputs[0] != outputs[1] {
		t.Errorf("two runs differ:\n%s\n%s", outputs[0], outputs[1])
	}
}

// The queries printed for the sqlite3 shell work.
func TestTheFileAnswersThePrintedQuestions(t *testing.T) {
	t.Parallel()
	file := newFile(t)
	out := play(t, file)
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := map[string]int{}
	for _, view := range []string{"history", "context"} {
		if want := fmt.Sprintf("sqlite3 -readonly -box '%s' \"%s\"\n", file, look(view)); !strings.Contains(out, want) {
			t.Errorf("output lacks %q:\n%s", want, out)
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM (" + look(view) + ") WHERE text <> ''").Scan(&n); err != nil {
			t.Fatal(err)
		}
		rows[view] = n
	}
	if rows["history"] != 2*len(conversation) || rows["context"] < 5 || rows["context"] > 25 {
		t.Errorf("rows with text: %v; want all %d in history, and few in context", rows, 2*len(conversation))
	}
}

func TestModelThatWasNotToldSaysSo(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{again: "never met", lastQuestion: "no longer know"} {
		if got := answer([]*genai.Content{genai.NewContentFromText(question, genai.RoleUser)}); !strings.Contains(got, want) {
			t.Errorf("%q: answer %q, want %q in it", question, got, want)
		}
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Parallel()
	existing := newFile(t)
	if err := os.WriteFile(existing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-file", existing}, 2, "needs a new one"},
		{[]string{"-file", filepath.Join(filepath.Dir(existing), "nowhere", "sessions.db")}, 1, "nowhere"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-help"}, 0, "-file"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%v: exit code %d, stderr %q; want %d and %q", tt.args, code, stderr.String(), tt.code, tt.want)
		}
	}
}

func newFile(t *testing.T) string { return filepath.Join(t.TempDir(), "sessions.db") }

// play runs the command on a file and returns its output.
func play(t *testing.T, file string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-file", file}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr.String())
	}
	return stdout.String()
}
