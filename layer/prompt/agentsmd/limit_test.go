package agentsmd_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

func TestBytesAreSpentOnTheNearestFileFirst(t *testing.T) {
	t.Parallel()
	lines := func(what string, n int) string { return strings.Repeat(what+" 0123456789\n", n) }
	top := tree(t, map[string]string{
		"home/AGENTS.md": lines("global", 10), ".git/": "", "AGENTS.md": lines("root", 100), "a/AGENTS.md": lines("middle", 100), "a/b/AGENTS.md": lines("near", 100),
	})
	l := loader(filepath.Join(top, "a", "b"))
	l.Global = filepath.Join(top, "home")
	whole := load(t, l)
	if whole.Truncated || whole.NumSources != 4 || whole.Err() != nil {
		t.Fatalf("all together are cut: %+v", whole)
	}
	kept := func(r agentsmd.LoadResult) (out []int) {
		for _, s := range r.Sources {
			out = append(out, s.Bytes)
		}
		return out
	}
	full := kept(whole)
	for most := whole.Bytes; most > 0; most -= 7 {
		l := loader(filepath.Join(top, "a", "b"))
		l.Global, l.MaxBytes = filepath.Join(top, "home"), most
		r := load(t, l)
		if most == whole.Bytes {
			if r.Merged != whole.Merged {
				t.Errorf("a text of exactly MaxBytes is cut:\n%s", r.Merged)
			}
			continue
		}
		if !r.Truncated || r.Err() == nil {
			t.Fatalf("%d bytes: nothing says that text is cut: %+v", most, r)
		}
		cutting := false // from the nearest file to the farthest
		for i, n := range slices.Backward(kept(r)) {
			s := r.Sources[i]
			if s.Bytes+s.Cut != full[i] {
				t.Fatalf("%d bytes: %d and %d of %s do not add up to %d", most, s.Bytes, s.Cut, s.Path, full[i])
			}
			if cutting && n > 0 {
				t.Fatalf("%d bytes: %v are kept, but the nearest come first", most, kept(r))
			}
			cutting = cutting || n < full[i]
		}
		if r.Merged == "" {
			continue
		}
		if !strings.Contains(r.Merged, "\n[... left out, because these files are too long: ") || !strings.Contains(r.Merged, `all of "AGENTS.md"`) && !strings.Contains(r.Merged, ` of "AGENTS.md"`) {
			t.Fatalf("%d bytes: the text does not say what is missing:\n%s", most, r.Merged)
		}
		for _, f := range frames(t, r.Merged) {
			if most > 800 && !strings.HasSuffix(f, "0123456789") {
				t.Fatalf("%d bytes: a file is not cut at the end of a line: %q", most, f[max(0, len(f)-30):])
			}
		}
	}
}

func TestALongLineIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": strings.Repeat("ä€😀", 5000)})
	for most := 700; most < 720; most++ {
		l := loader(top)
		l.MaxBytes = most
		r := load(t, l)
		if r.NumSources != 1 || r.Bytes < most-60 {
			t.Errorf("of %d bytes %d are used", most, r.Bytes)
		}
	}
}

func TestOfALongFileTheBeginningIsRead(t *testing.T) {
	t.Parallel()
	top := tree(t, map[string]string{".git/": "", "AGENTS.md": strings.Repeat("0123456789\n", 100_000)})
	l := loader(top)
	l.MaxBytes = 2 << 20
	r := load(t, l)
	wantProblem(t, r, filepath.Join(top, "AGENTS.md"), "1100000 bytes", "first 1048575")
	if s := r.Sources[0]; !r.Truncated || s.Bytes != 1_048_575 || s.Cut != 51_425 || !strings.Contains(r.Merged, `the last 51425 of 1100000 bytes of "AGENTS.md"`) {
		t.Errorf("source is %+v", s)
	}
}
