package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// few plays some tasks and returns the output.
func few(t *testing.T) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-tasks", "8"}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q", code, stderr.String())
	}
	return stdout.String()
}

func TestEveryLayerFitsIntoTheWindowAndLosesNothing(t *testing.T) {
	t.Parallel()
	out := few(t)
	var calls, largest, of, cut int
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := lines[len(lines)-1]
	if _, err := fmt.Sscanf(last, "toolheavy ok: %d calls, largest prompt %d of %d tokens, %d results cut, all of them readable", &calls, &largest, &of, &cut); err != nil {
		t.Fatalf("last line %q: %v", last, err)
	}
	if calls != 8*callsPerTask || largest == 0 || largest > window || of != window || cut < 16 {
		t.Errorf("last line %q", last)
	}
	if again := few(t); !strings.HasSuffix(again, "\n"+last+"\n") {
		t.Errorf("another run ends differently:\n%s\n%s", out, again)
	}
}

// A 0 would say that a layer ran and did nothing.
func TestNoNumberStandsForALayerThatDidNotRun(t *testing.T) {
	t.Parallel()
	out := few(t)
	for row, want := range map[string][2]string{
		"results cut":                  {"-", "-"},
		"bytes that the cuts took out": {"-", "-"},
		"reads with read_result":       {"-", "-"},
		"bytes read back by the model": {"-", "-"},
		"cut results readable whole":   {"-", "-"},
		"  tools changed":              {"-", "-"}, // recall is declared with the first summary
		"saved, against ADK alone":     {"-", ""},
	} {
		_, rest, found := strings.Cut(out, "\n "+row+" ")
		line, _, _ := strings.Cut(rest, "\n")
		cells := strings.Split(line, "|")
		if !found || len(cells) != 4 {
			t.Errorf("row %q is not shown in three columns: %q", row, line)
			continue
		}
		for i, cell := range want {
			if got := strings.TrimSpace(cells[i+1]); cell != "" && got != cell {
				t.Errorf("row %q, column %d: %q, want %q", row, i+1, got, cell)
			}
		}
	}
}

// The check of the example notices what it is there for.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*game{
		"does not fit into the window": {provider: provider{over: 1}},
		"cannot be read back":          {unread: []string{"r-0123456789abcdef: gone"}},
		"have a cause":                 {provider: provider{breaks: 1}},
	} {
		if err := g.check(); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "do not fit", "does not fit"), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := (&game{}).check(); err != nil {
		t.Error(err)
	}
}

func TestCallsThatCannotWorkSayWhy(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-live"}, 2, "GOOGLE_API_KEY"},
		{[]string{"-nonsense"}, 2, "-nonsense"},
		{[]string{"extra"}, 2, `unexpected argument "extra"`},
		{[]string{"-tasks", "99"}, 2, "25 packages"},
		{[]string{"-help"}, 0, "-live"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), tt.args, &stdout, &stderr); code != tt.code || !strings.Contains(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", tt.args, code, stdout.String(), stderr.String())
		}
	}
}
