package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
)

// blocks are the blocks of code of a page.
func blocks(page string) (found []string) {
	for i, text := range strings.Split("\n"+page, "\n```\n") {
		if i%2 == 1 {
			found = append(found, text)
		}
	}
	return found
}

var number = regexp.MustCompile(`\d[\d,.]*[KM]?`)

// screenLines are the lines of a screen without numbers, and without what the person types.
func screenLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, number.ReplaceAllString(line, "0"))
		}
	}
	return lines
}

// TestTheTourIsARealRun plays the tour of the manual: each of its screens is seen, line by line. What differs from run
// to run is numbers.
func TestTheTourIsARealRun(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/chat.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, folder)
	}
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := blocks(string(page))
	if len(all) < 12 || !strings.Contains(all[1], `"calls"`) {
		t.Fatalf("%d blocks, and the second is no script: %q", len(all), all)
	}
	script := write("talk.jsonl", all[1]+"\n")
	readings := ""
	for i := range 60 {
		readings += fmt.Sprintf("valve %d reads 7 bar\n", i+1)
	}
	write("readings.txt", readings)

	var seen bytes.Buffer
	chat := func(code int, input string, args ...string) {
		t.Helper()
		args = append([]string{"chat", "--file", filepath.Join(folder, "tour.db"), "--folder", folder, "--model", "scripted:" + script, "--invocation-threshold", "5"}, args...)
		if got := Run(t.Context(), args, strings.NewReader(input), &seen, &seen); got != code {
			t.Fatalf("%v: exit code %d, want %d:\n%s", args, got, code, &seen)
		}
	}
	survey := func(from, to int) (input string) {
		for part := from; part <= to; part++ {
			input += fmt.Sprintf("Survey part %d.\n", part)
		}
		return input
	}
	chat(exit.CodeOK, survey(1, 7), "--session", "a")
	chat(exit.CodeOK, survey(8, 8)+"/compact the valves\n/done the valves are surveyed\n/context\n/tokens\n/stats\n/compaction-status\n", "--resume")
	ceiling := []string{"--session", "b", "--max-session-cost-usd", "0.01"}
	chat(exit.CodeFindings, survey(1, 7), ceiling...)
	chat(exit.CodeOK, "/guard\n/resume-after-cost-ceiling +0.01\n"+survey(8, 8), ceiling...)

	shown := screenLines(seen.String())
	for _, screen := range all[2:] {
		rest := shown
		for _, line := range screenLines(screen) {
			if strings.HasPrefix(line, "> ") && !strings.HasPrefix(screen, "Session ") {
				continue // it is typed, and a pipe does not show it
			}
			at := slices.Index(rest, line)
			if at < 0 {
				t.Errorf("this line is on no screen, or not behind the ones before it: %s\nof the screen:\n%s", line, screen)
				break
			}
			rest = rest[at+1:]
		}
	}
	if t.Failed() {
		t.Logf("the tour:\n%s", &seen)
	}
}
