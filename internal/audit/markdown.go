package audit

import (
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/persistence"
)

// markdown writes a heading for each event and what it says in fenced blocks, so that nothing that was said
// is taken for Markdown.
type markdown struct {
	to   io.Writer
	text strings.Builder
}

func (w *markdown) begin(of *Session) error {
	fmt.Fprintf(&w.text, "# Session %s\n\n", inline(of.Name()))
	fmt.Fprintf(&w.text, "Created %s. All times are UTC.\n", of.Created[:min(len("2006-01-02T15:04:05"), len(of.Created))])
	return w.flush()
}

func (w *markdown) event(row *persistence.Row) error {
	e := EntryOf(row)
	title := inline(e.Author)
	if e.Record != nil {
		title = "compaction record " + inline(e.Record.RecordID)
	}
	fmt.Fprintf(&w.text, "\n## %d. %s\n\n", e.Seq, title)
	facts := []string{e.Time}
	if e.Branch != "" {
		facts = append(facts, "branch "+inline(e.Branch))
	}
	if e.CoveredBy != "" {
		facts = append(facts, "covered by "+inline(e.CoveredBy))
	}
	fmt.Fprintf(&w.text, "%s\n", strings.Join(facts, ", "))
	for _, b := range Blocks(&e) {
		w.text.WriteString("\n")
		if b.Title != "" {
			fmt.Fprintf(&w.text, "%s:\n\n", inline(b.Title))
		}
		fence := strings.Repeat("`", max(3, longestRun(b.Text, '`')+1))
		fmt.Fprintf(&w.text, "%stext\n%s\n%s\n", fence, b.Text, fence)
	}
	return w.flush()
}

func (w *markdown) end() error { return nil }

func (w *markdown) flush() error {
	_, err := io.WriteString(w.to, w.text.String())
	w.text.Reset()
	return err
}

// inline returns a name as code, on one line.
func inline(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	fence := strings.Repeat("`", longestRun(name, '`')+1)
	if strings.HasPrefix(name, "`") || strings.HasSuffix(name, "`") || name == "" {
		name = " " + name + " "
	}
	return fence + name + fence
}

func longestRun(text string, of rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
