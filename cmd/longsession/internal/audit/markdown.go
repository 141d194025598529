package audit

import (
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
)

// markdown writes a heading for each event and its content in fenced blocks, so that no text is
// taken for Markdown.
type markdown struct {
	to    io.Writer
	x     *redaction
	names *Names // of the records of the session
	text  strings.Builder
	next  bool // not the first session
}

func (w *markdown) session(of *Session, named *Names) error {
	w.names = named
	t, err := titleOf(of, w.x)
	if err != nil {
		return err
	}
	if w.next {
		w.text.WriteString("\n")
	}
	w.next = true
	fmt.Fprintf(&w.text, "# Session %s\n\nCreated %s. All times are UTC.\n", inline(t.Name), inline(t.Created))
	return w.flush()
}

func (w *markdown) event(row *sessionfile.Row) error {
	a, err := articleOf(row, w.names, w.x)
	if err != nil {
		return err
	}
	title := inline(a.Author)
	if a.Record != "" {
		title = "compaction record " + inline(a.Record)
	}
	fmt.Fprintf(&w.text, "\n## %d. %s\n\n", a.Seq, title)
	facts := []string{a.Time}
	if a.Branch != "" {
		facts = append(facts, "branch "+inline(a.Branch))
	}
	if a.Scope != "" {
		facts = append(facts, "scope "+inline(a.Scope))
	}
	if a.CoveredBy != "" {
		facts = append(facts, "covered by "+inline(a.CoveredBy))
	}
	fmt.Fprintf(&w.text, "%s\n", strings.Join(facts, ", "))
	for _, b := range a.Blocks {
		w.text.WriteString("\n")
		if b.Title != "" {
			fmt.Fprintf(&w.text, "%s:\n\n", inline(b.Title))
		}
		// A fence longer than any in the text, so that the text cannot end its own block.
		fence := strings.Repeat("`", max(3, longestRun(b.Text, '`')+1))
		fmt.Fprintf(&w.text, "%stext\n%s\n%s\n", fence, b.Text, fence)
	}
	return w.flush()
}

func (w *markdown) flush() error {
	_, err := io.WriteString(w.to, w.text.String())
	w.text.Reset()
	return err
}

// inline returns a name, which is on one line, as code. The fence is longer than any run of
// backticks in the name, and blanks keep a backtick at either end of the name apart from it.
func inline(name string) string {
	fence := strings.Repeat("`", longestRun(name, '`')+1)
	if strings.HasPrefix(name, "`") || strings.HasSuffix(name, "`") || name == "" {
		name = " " + name + " "
	}
	return fence + name + fence
}

// longestRun is the length of the longest run of a character in a text.
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
