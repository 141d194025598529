package tools

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pattern of some hundred bytes must not keep a call busy: neither the matcher of globs nor a
// search within one line looks at the context.
func TestPatternsThatExplode(t *testing.T) {
	t.Parallel()
	for pattern, refused := range map[string]bool{
		strings.Repeat("{{a},a,a,a,a,a,a,a}", 50) + "b": true,
		strings.Repeat(`{a\},a,a,a,a,a,a}`, 9) + "b":    true,
		strings.Repeat("{a,b}", 8):                      true,
		"{{a,b},{c,d}}/**/*.{go,rs}":                    false,
		`a,b,c\{,,,,,,,\}`:                              false,
	} {
		if err := checkPattern(pattern); (err != nil) != refused {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if _, _, err := expression(grepArgs{Pattern: strings.Repeat("a{0,1000}", 3) + "b"}); err == nil || !strings.Contains(err.Error(), "repeats too much") {
		t.Error(err)
	}
}

// ended is a context that ends after it was looked at so many times.
type ended struct {
	context.Context
	looks int
}

func (e *ended) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestASearchWithinALineEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "one-line"), []byte(strings.Repeat("a", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := NewFiles(FilesConfig{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	ctx := &ended{t.Context(), 100}
	if _, err := files.grep(ctx, grepArgs{Pattern: "a{0,1000}b", Path: "one-line"}); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Error(err)
	}
	// Where a search is long, it finds the same.
	s := search{re: nil, size: longSearch}
	if s.re, _, err = expression(grepArgs{Pattern: "é+x$"}); err != nil {
		t.Fatal(err)
	}
	text := []byte("\xff ééx ééx")
	at, err := s.find(t.Context(), text)
	if want := s.re.FindIndex(text); err != nil || len(at) != 2 || at[0] != want[0] || at[1] != want[1] {
		t.Errorf("%v, want %v: %v", at, want, err)
	}
}
