package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheHistoryLeavesOutKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"sk-proj-abcdefgh1234":                                  true,
		"my key is AIzaSyA1234567890abcdef":                     true,
		"ghp_abcdefghij0123456789":                              true,
		"token=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822": true,
		"please read internal/very/long/path/of/a/file/name.go": false,
		"the order A-1041 is late":                              false,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1": false,
	} {
		if hasKey(text) != want {
			t.Errorf("hasKey(%q) is %v", text, !want)
		}
	}
}

func TestTheHistoryIsKeptForOnePerson(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deep", "history")
	h := openHistory(file)
	for _, text := range []string{"one", "one", "two\n\twith lines", " secret", "sk-abcdefgh12345", ""} {
		h.add(text)
	}
	other := openHistory(file) // another chat ends first
	other.add("other")
	if err := other.save(); err != nil {
		t.Fatal(err)
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(openHistory(file).entries, "|"); got != "other|one|two\n\twith lines" {
		t.Errorf("entries %q", got)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestTheHistoryIsBounded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	for i := range mostEntries + 50 {
		h.add(strings.Repeat("x", i%7) + string(rune('a'+i%26)))
	}
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	if got := len(openHistory(file).entries); got != mostEntries {
		t.Errorf("%d entries", got)
	}
	if err := os.WriteFile(file, []byte("no json\n\"good\"\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := openHistory(file).entries; len(got) != 1 || got[0] != "good" {
		t.Errorf("entries of a damaged file: %q", got)
	}
}
