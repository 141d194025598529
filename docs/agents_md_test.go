package docs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/prompt/agentsmd"
)

// guideProject writes the example of agents-md.md into a new folder, and returns a Loader for its last file.
func guideProject(t *testing.T) (loader *agentsmd.Loader, document string) {
	t.Helper()
	document, top := read(t, "agents-md.md"), t.TempDir()
	if err := os.Mkdir(filepath.Join(top, ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile("(?ms)^In `([^`]+)`[^\n]*:\n\n```markdown\n(.*?)^```$").FindAllStringSubmatch(document, -1)
	if len(files) != 2 {
		t.Fatalf("%d files found: the test reads wrongly", len(files))
	}
	workDir := top
	for _, m := range files {
		file := filepath.Join(top, filepath.FromSlash(m[1]))
		workDir = filepath.Dir(file)
		if err := os.MkdirAll(workDir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(m[2]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loader = agentsmd.NewLoader(workDir)
	loader.Global = ""
	return loader, document
}

// TestTheGuideShowsWhatTheModelReads: agents-md.md shows two files and the text that the Loader makes of
// them.
func TestTheGuideShowsWhatTheModelReads(t *testing.T) {
	t.Parallel()
	loader, document := guideProject(t)
	result, err := loader.Load()
	if err != nil || result.Err() != nil {
		t.Fatal(err, result.Err())
	}
	if shown := fenced(document, "text"); len(shown) == 0 || strings.TrimSuffix(shown[0], "\n") != result.Merged {
		t.Errorf("agents-md.md does not show what the Loader makes of its example:\n%s", result.Merged)
	}
}

// TestTheGuideShowsHowALongFileIsReported: the line about missing text is as the guide has it, but for the
// numbers.
func TestTheGuideShowsHowALongFileIsReported(t *testing.T) {
	t.Parallel()
	loader, document := guideProject(t)
	loader.MaxBytes = 850
	result, err := loader.Load()
	if err != nil || !result.Truncated {
		t.Fatal(err, result)
	}
	number := regexp.MustCompile(`\d+`)
	line := strings.Split(result.Merged, "\n")[1] + "\n"
	if shown := fenced(document, "text"); len(shown) != 2 || number.ReplaceAllString(shown[1], "N") != number.ReplaceAllString(line, "N") {
		t.Errorf("agents-md.md does not show this line: %s", line)
	}
}

// TestTheGuideExplainsMessagesThatExist: people look a message up by its text.
func TestTheGuideExplainsMessagesThatExist(t *testing.T) {
	t.Parallel()
	source := regexp.MustCompile(`%[a-z]|"? \+ [a-z.()A-Z]+ \+ "?`).ReplaceAllString(code(t, false), "…")
	_, table, _ := strings.Cut(read(t, "agents-md.md"), "| message | remedy |")
	table, _, _ = strings.Cut(table, "\n## ")
	messages := 0
	for _, row := range strings.Split(table, "\n") {
		cell, _, _ := strings.Cut(row, " | ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			messages++
			if text := strings.TrimSuffix(m[1], " …"); !strings.Contains(source, text) {
				t.Errorf("agents-md.md explains %q, which the code never says", text)
			}
		}
	}
	if messages < 12 {
		t.Errorf("%d messages found: the test reads wrongly", messages)
	}
}

// TestConfigurationNamesEveryFieldOfTheLoader: configuration.md has a row for each of them.
func TestConfigurationNamesEveryFieldOfTheLoader(t *testing.T) {
	t.Parallel()
	named, exported := column(t, read(t, "configuration.md"), "\n## AGENTS.md files\n"), []string{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[agentsmd.Loader]()) {
		if field.IsExported() {
			exported = append(exported, field.Name)
		}
	}
	if !slices.Equal(named, exported) {
		t.Errorf("configuration.md names the fields %v, and the Loader has %v", named, exported)
	}
}
