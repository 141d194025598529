package longsession_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/adk"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestREADMEIsShort: a newcomer reads it all, and what no longer fits has a document in docs.
func TestREADMEIsShort(t *testing.T) {
	t.Parallel()
	if n := strings.Count(read(t, "README.md"), "\n"); n > 120 {
		t.Errorf("README.md has %d lines, more than 120: move details to docs", n)
	}
}

// TestFiguresInREADMEAreMeasured: BENCHMARKS.md has each figure of the table, with the command that
// makes it. The figures of the quickstart are compared with its output by its own test.
func TestFiguresInREADMEAreMeasured(t *testing.T) {
	t.Parallel()
	_, table, _ := strings.Cut(read(t, "README.md"), "## Before and after")
	table, _, _ = strings.Cut(table, "\n\nShort sessions")
	measured, rows := read(t, "BENCHMARKS.md"), 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.Contains(line, "quickstart") || strings.HasPrefix(line, "|-") || strings.Contains(line, "| without |") {
			continue
		}
		rows++
		for _, figure := range regexp.MustCompile(`\d[\d.,]*`).FindAllString(cells[2]+cells[3], -1) {
			if !strings.Contains(measured, figure) {
				t.Errorf("README.md has the figure %s, which BENCHMARKS.md lacks: %s", figure, line)
			}
		}
	}
	if rows != 5 {
		t.Errorf("%d rows of figures read, want 5", rows)
	}
}

// TestVersionsInREADMEAreThoseOfGoMod: what is supported is what is tested.
func TestVersionsInREADMEAreThoseOfGoMod(t *testing.T) {
	t.Parallel()
	readme, mod := read(t, "README.md"), read(t, "go.mod")
	adk := regexp.MustCompile(`google\.golang\.org/adk(?:/v2)? (v\S+)`).FindStringSubmatch(mod)
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(mod)
	if adk == nil || language == nil {
		t.Fatal("go.mod does not name the versions of ADK and Go: the test reads wrongly")
	}
	for _, want := range []string{"from " + adk[1] + " on", "run against " + adk[1], "**Go** " + language[1] + " or newer", " Go " + language[1] + " or newer"} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
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

// TestLinksInDocumentsLeadSomewhere: to a file that exists, and to a heading in it.
func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	found := 0
	for _, file := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			target := file
			if m[1] != "" {
				target = path.Join(path.Dir(file), m[1])
			}
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
				continue
			}
			if m[2] != "" && !slices.Contains(anchors(read(t, target)), m[2]) {
				t.Errorf("%s links to %s#%s, and there is no such heading", file, target, m[2])
			}
		}
	}
	if found < 40 {
		t.Errorf("%d links found: the test reads wrongly", found)
	}
}

// anchors returns the names by which a page on GitHub can be linked to: those of its headings.
func anchors(markdown string) []string {
	var names []string
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(markdown, -1) {
		name := strings.ToLower(regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(m[1], ""))
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestTestsNamedInDocumentsExist: ARCHITECTURE.md says which test holds which invariant, and that
// must stay true when a test is renamed.
func TestTestsNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, "_test.go") {
			code.WriteString(read(t, file))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`((?:Test|Fuzz|Example|Benchmark)[A-Z]\\w*)`")
	found := 0
	for _, file := range documents(t) {
		for _, m := range name.FindAllStringSubmatch(read(t, file), -1) {
			found++
			if !strings.Contains(code.String(), "func "+m[1]+"(") && adk.Major == 1 { // some tests are for v1 only
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
	if found < 12 {
		t.Errorf("%d tests named: fewer than there are invariants", found)
	}
}

func TestQuickReferenceNamesEveryPublicPackage(t *testing.T) {
	t.Parallel()
	reference := read(t, "docs/quick-reference.md")
	for folder := range readImports(t) {
		if folder == "." || folder == "integration_test" || strings.HasPrefix(folder, "internal/") || strings.Contains(folder, "/internal/") {
			continue
		}
		if !strings.Contains(reference, "`"+folder+"`") {
			t.Errorf("docs/quick-reference.md does not name package `%s`: add a row to the table of \"Packages\"", folder)
		}
	}
}

// documents returns the Markdown files of the root and of docs, with forward slashes.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			files = append(files, filepath.ToSlash(file))
		}
	}
	return files
}

// fenced returns the contents of the Markdown code blocks in a language.
func fenced(markdown, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(markdown, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}
