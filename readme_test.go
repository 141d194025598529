package longsession_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCodeInREADMEIsAnExampleThatRuns keeps the Go code of README.md in step with the example of
// package compaction, which go test compiles, runs and checks.
func TestCodeInREADMEIsAnExampleThatRuns(t *testing.T) {
	t.Parallel()
	example := map[string]bool{}
	for line := range strings.Lines(read(t, "compaction/example_test.go")) {
		example[strings.TrimSpace(line)] = true
	}
	lines, wraps := 0, false
	for _, block := range fenced(read(t, "README.md"), "go") {
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			lines++
			wraps = wraps || strings.Contains(line, "compaction.NewCompactionService(")
			if !example[line] {
				t.Errorf("README.md has a line that compaction/example_test.go lacks:\n\t%s", line)
			}
		}
	}
	if lines < 5 || !wraps {
		t.Errorf("README.md has %d lines of Go and wraps a service: %v; the one-line change is missing", lines, wraps)
	}
}

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	found := 0
	for _, file := range documents {
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
	if found == 0 {
		t.Error("no link found: the test reads wrongly")
	}
}

// TestTestsNamedInDocumentsExist: ARCHITECTURE.md says which test holds which invariant, and that
// must stay true when a test is renamed.
func TestTestsNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	files, err := filepath.Glob("*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob("*/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(append(files, deeper...), top...) {
		code.WriteString(read(t, file))
	}
	name := regexp.MustCompile("`((?:Test|Fuzz|Example|Benchmark)[A-Z]\\w*)`")
	found := 0
	for _, file := range documents {
		for _, m := range name.FindAllStringSubmatch(read(t, file), -1) {
			found++
			if !strings.Contains(code.String(), "func "+m[1]+"(") {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
	if found < 12 {
		t.Errorf("%d tests named: fewer than there are invariants", found)
	}
}

func TestREADMENamesEveryPublicPackage(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	for folder := range readImports(t) {
		if folder == "." || folder == "integration_test" || strings.HasPrefix(folder, "internal/") || strings.Contains(folder, "/internal/") {
			continue
		}
		if !strings.Contains(readme, "`"+folder+"`") {
			t.Errorf("README.md does not name package `%s`", folder)
		}
	}
}

// TestDependenciesHaveReasons: a new dependency is a reviewed line in ARCHITECTURE.md.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	architecture := read(t, "ARCHITECTURE.md")
	direct := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`).FindAllStringSubmatch(read(t, "go.mod"), -1)
	if len(direct) < 5 {
		t.Fatalf("%d direct dependencies found in go.mod: the test reads wrongly", len(direct))
	}
	for _, m := range direct {
		if !strings.Contains(architecture, "`"+m[1]+"`") {
			t.Errorf("ARCHITECTURE.md gives no reason for the dependency `%s`", m[1])
		}
	}
}

var documents = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md"}

// fenced returns the contents of the Markdown code blocks in a language.
func fenced(markdown, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}
