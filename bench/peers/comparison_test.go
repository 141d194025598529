package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// The table of recorded conversations has every column that does not depend on the machine.
func TestTheComparisonHasTheFiguresOfRecordedConversations(t *testing.T) {
	dir := os.Getenv(dataFolder)
	if dir == "" {
		t.Skipf("%s names no folder with recorded conversations", dataFolder)
	}
	all, err := sets(dir)
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, s := range all {
		if !strings.Contains(s.name, "recorded") || strings.Contains(s.name, "coding") && !testkit.Whole() {
			continue
		}
		s.hard = true // only the ways of the comparison
		what, _, _ := strings.Cut(s.name, ",")
		for _, window := range s.windows {
			played++
			rows, err := measure(t.Context(), s, window, 1, t.Output())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				line := fmt.Sprintf("| %s, %s | %s |", what, count(window), r.way.name)
				for _, c := range columns {
					if c.name != "time" {
						line += " " + c.cell(r.figures, rows[0].figures) + " |"
					}
				}
				held(t, comparison, line)
			}
		}
	}
	if played < 3 {
		t.Errorf("%d tables played", played)
	}
}

// hardRow is the row of a hard case: for each way the requests over the window, those that lack a message of the user,
// and the results that are neither known nor readable at the end. In brackets are those that were cut or are rough.
func hardRow(s set, rows []row) string {
	line := fmt.Sprintf("| %s | %s |", strings.TrimPrefix(s.name, hardCase), count(s.windows[0]))
	for _, r := range rows {
		f := r.figures
		line += fmt.Sprintf(" %d; %s; %s |", f.over, excused(f.missing, f.missingCut), excused(f.results-f.kept-f.readable, f.cut+f.roughly))
	}
	return line
}

func excused(n, excused int) string {
	if excused == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%d)", n, excused)
}

var documents sync.Mutex

// held compares the row of a table with the row of the document that has the same first two cells. A background summary
// may begin an event earlier or later, so figures may differ by 2%. With LONGSESSION_UPDATE in the environment it writes
// the row instead.
func held(t *testing.T, file, line string) {
	t.Helper()
	documents.Lock()
	defer documents.Unlock()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Join(strings.SplitAfterN(line, "|", 4)[:3], "")
	at := strings.Index(string(text), "\n"+start)
	if at < 0 {
		t.Errorf("%s has no row %s\n%s", file, start, line)
		return
	}
	was, _, _ := strings.Cut(string(text[at+1:]), "\n")
	if os.Getenv("LONGSESSION_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), "\n"+was+"\n", "\n"+line+"\n", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !alike(was, line) {
		t.Errorf("%s says\n\t%s\nand this was measured:\n\t%s\nTo write all figures anew: LONGSESSION_DATA=... make figures", file, was, line)
	}
}

var number = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// alike reports whether two rows differ in nothing but figures, and in these by 2% at most.
func alike(a, b string) bool {
	if number.ReplaceAllString(a, "#") != number.ReplaceAllString(b, "#") {
		return false
	}
	numbers := number.FindAllString(b, -1)
	for i, text := range number.FindAllString(a, -1) {
		x, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		y, _ := strconv.ParseFloat(strings.ReplaceAll(numbers[i], ",", ""), 64)
		if math.Abs(x-y) > max(x, y)/50 {
			return false
		}
	}
	return true
}

func TestRowsAreAlikeWithinTwoPercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"| a | 1,000 (3) | 2.46 |", "| a | 1,015 (3) | 2.45 |", true},
		{"| a | 1,000 (3) |", "| a | 1,030 (3) |", false},
		{"| a | 10 (0) |", "| a | 10 (1) |", false},
		{"| a | 10 |", "| a | 10 (0) |", false},
	} {
		if alike(tt.a, tt.b) != tt.want {
			t.Errorf("%q and %q", tt.a, tt.b)
		}
	}
}
