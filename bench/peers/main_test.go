package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	// contextguard logs each of its steps.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestEveryWayHasItsFigures(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-data", "", "-runs", "1", "-only", "an invented conversation"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr.String())
	}
	if !strings.Contains(stderr.String(), dataFolder) {
		t.Errorf("stderr does not report that recorded conversations were left out, and the remedy:\n%s", stderr.String())
	}
	for _, note := range notes {
		if !strings.Contains(stdout.String(), note) {
			t.Errorf("the notes below the tables lack this one: %s", note)
		}
	}
	if n := strings.Count(stdout.String(), "\n### "); n != 1 {
		t.Errorf("%d tables, want the one that was asked for", n)
	}
	digit := regexp.MustCompile(`\d`)
	for _, w := range ways() {
		_, after, found := strings.Cut(stdout.String(), "| "+w.name+" |")
		line, _, _ := strings.Cut(after, "\n")
		cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
		if !found || len(cells) != len(columns) {
			t.Errorf("%s has %d figures, want %d:\n%s", w.name, len(cells), len(columns), stdout.String())
			continue
		}
		for i, cell := range cells {
			if !digit.MatchString(cell) {
				t.Errorf("%s: %q is not a figure for %s", w.name, cell, columns[i].name)
			}
		}
	}
}

// A broken guarantee must fail the command, not just appear in a table.
func TestABrokenGuaranteeIsNoSuccess(t *testing.T) {
	t.Parallel()
	fine := figures{requests: 9, missing: 2, missingCut: 2, results: 5, kept: 2, cut: 2, roughly: 1, over: 1, calls: 2, tokens: 100, keys: 1}
	if missed := broken(fine); len(missed) > 0 {
		t.Errorf("figures without a violation are reported: %v", missed)
	}
	for name, f := range map[string]figures{
		"a user message is lacking":         {missing: 2, missingCut: 1},
		"a tool result is unknown":          {results: 3, kept: 1, cut: 1},
		"a tool result was never read":      {unread: 1},
		"a call has no response":            {orphans: 1},
		"a branch reads another":            {leaked: 1},
		"a prompt is longer than it may be": {over: 2, avoidable: 1},
		"session state has a key more":      {keys: 1, strayKeys: 1},
	} {
		if missed := broken(f); len(missed) != 1 {
			t.Errorf("%s, but it says: %v", name, missed)
		}
	}
}

func TestCallsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, "coding_agent_sessions.jsonl"), []byte(`{"messages":[{"role":"user","content":"hi"}]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, says string }{
		{"extra", `"extra"`},
		{"-nonsense", "nonsense"},
		{"-runs 0", "-runs is 0"},
		{"-only nowhere", `"nowhere"`},
		{"-data /nowhere", "/nowhere"},
		{"-data " + empty, "no conversation of 300 messages"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(tt.args), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), tt.says) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, want 2 and %q\n%s%s", tt.args, code, tt.says, stdout.String(), stderr.String())
		}
	}
}
