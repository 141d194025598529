package agentsmd_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkLoad loads the files of a working directory eight folders below the root of its project: with
// nothing changed, and for the first time.
func BenchmarkLoad(b *testing.B) {
	text := strings.Repeat("Run the tests with `make test` before you answer.\n", 60)
	top := tree(b, map[string]string{".git/": "", "AGENTS.md": text, "a/b/AGENTS.md": text, "a/b/c/d/e/f/g/h/AGENTS.md": text})
	work := filepath.Join(top, "a/b/c/d/e/f/g/h")
	b.Run("unchanged", func(b *testing.B) {
		l := loader(work)
		load(b, l)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := l.Load(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := loader(work).Load(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
