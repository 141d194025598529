package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
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
	if _, err := expression(grepArgs{Pattern: strings.Repeat("a{0,1000}", 3) + "b"}); err == nil || !strings.Contains(err.Error(), "repeats too much") {
		t.Error(err)
	}
}

// ended is a context that ends after it was looked at so many times.
type ended struct {
	context.Context
	looks int
	err   error
}

func (e *ended) Err() error {
	if e.looks--; e.looks < 0 {
		return e.err
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
	ctx := &ended{t.Context(), 100, context.Canceled}
	if _, err := files.grep(ctx, grepArgs{Pattern: "a{0,1000}b", Path: "one-line"}); err == nil || err.Error() != "stopped: context canceled" {
		t.Error(err)
	}
}

// What was found until then is worth more than an error.
func TestASearchThatTakesTooLongKeepsWhatItHasFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("found\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := NewFiles(FilesConfig{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	var found, globbed [4]int
	for looks := range 100 {
		ctx := func() context.Context { return &ended{t.Context(), looks, files.slow} }
		matches, err := files.grep(ctx(), grepArgs{Pattern: "f.*"})
		if err != nil || matches.More != strings.Contains(matches.Note, "stopped after 30s") || !matches.More && matches.Count < 3 {
			t.Errorf("grep after %d looks: %+v, %v", looks, matches, err)
		}
		found[matches.Count]++
		names, err := files.glob(ctx(), globArgs{Pattern: "*.txt"})
		if err != nil || names.More != strings.Contains(names.Note, "stopped after 30s") || !names.More && len(names.Files) < 3 {
			t.Errorf("glob after %d looks: %+v, %v", looks, names, err)
		}
		globbed[len(names.Files)]++
	}
	if slices.Contains(found[:], 0) || slices.Contains(globbed[:], 0) {
		t.Errorf("not every end was seen: %v, %v", found, globbed)
	}
}
