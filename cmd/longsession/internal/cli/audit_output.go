package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

// auditOutput writes what audit commands show: text for a terminal, or JSON Lines.
type auditOutput struct {
	to     *bufio.Writer
	screen screen
	json   *json.Encoder // nil for text
	err    error         // the first one
	did    func() string // says what was done by the time of an interrupt
}

func newAuditOutput(w io.Writer, asJSON bool) *auditOutput {
	o := &auditOutput{to: bufio.NewWriter(w), screen: screenOf(w), did: func() string { return "nothing was shown" }}
	if asJSON {
		o.json = json.NewEncoder(o.to)
		o.json.SetEscapeHTML(false)
	}
	return o
}

// line writes an object of JSON.
func (o *auditOutput) line(value any) error { return o.json.Encode(value) }

// printf writes text that has been made safe. On a terminal, lines that are too long for it are broken, and
// go on below their first word or, in lines such as "label   value", below the value.
func (o *auditOutput) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if o.screen.columns > 0 {
		var b strings.Builder
		for line := range strings.Lines(text) {
			line, ended := strings.CutSuffix(line, "\n")
			b.WriteString(hanging(line, o.screen.columns))
			if ended {
				b.WriteByte('\n')
			}
		}
		text = b.String()
	}
	o.raw(text)
}

func (o *auditOutput) raw(text string) {
	if _, err := o.to.WriteString(text); o.err == nil {
		o.err = err
	}
}

func (o *auditOutput) flush() error {
	if err := o.to.Flush(); o.err == nil {
		o.err = err
	}
	return o.err
}

// shortID is as much of a record's ID as people need to tell records apart.
func shortID(id string) string {
	const width = 8
	if r := []rune(id); len(r) > width {
		id = string(r[:width])
	}
	return printable(id)
}

// moment is a time to the second.
func moment(at string) string {
	const layout = "2006-01-02T15:04:05"
	if len(at) > len(layout) && at[len("2006-01-02")] == 'T' {
		at = at[:len("2006-01-02")] + " " + at[len("2006-01-02T"):len(layout)]
	}
	return printable(at)
}

// indented writes what strangers wrote, line by line.
func (o *auditOutput) indented(text, indent string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		line = printable(strings.TrimSuffix(line, "\r"))
		pieces := []string{line}
		if o.screen.columns > 0 {
			pieces = wrapped(line, max(o.screen.columns-len(indent), narrowest/2))
		}
		for _, piece := range pieces {
			o.raw(strings.TrimRight(indent+piece, " ") + "\n")
		}
	}
}

// entry writes an event and what it says.
func (o *auditOutput) entry(e *audit.Entry) {
	o.title(entryTitle(e))
	for _, b := range audit.Blocks(e) {
		o.block(b)
	}
}

// title writes the line that an event or a record begins with.
func (o *auditOutput) title(text string) {
	if o.screen.columns > 0 {
		text = hanging(text, o.screen.columns)
	}
	o.raw(o.screen.strong(text) + "\n")
}

func entryTitle(e *audit.Entry) string {
	title := "summary"
	if e.Seq > 0 {
		title = fmt.Sprintf("#%d", e.Seq)
	}
	for _, part := range []string{moment(e.Time), printable(e.Author)} {
		if part != "" {
			title += "  " + part
		}
	}
	if e.Branch != "" {
		title += "  branch " + printable(e.Branch)
	}
	if e.Record != nil {
		title += "  record " + shortID(e.Record.RecordID)
	}
	if e.CoveredBy != "" {
		title += "  [covered by " + shortID(e.CoveredBy) + "]"
	}
	return title
}

func (o *auditOutput) block(b audit.Block) {
	const indent = "    "
	switch title := printable(b.Title); {
	case title == "":
		o.indented(b.Text, indent)
	case strings.ContainsRune(b.Text, '\n'):
		o.printf("%s%s:\n", indent, title)
		o.indented(b.Text, indent+"  ")
	default:
		o.indented(b.Title+": "+b.Text, indent)
	}
}

// compaction writes a record and its summary.
func (o *auditOutput) compaction(c *audit.Compaction) {
	o.title(compactionTitle(c))
	if c.State == audit.Unreadable {
		o.indented("cannot be read: "+c.Problem, "    ")
		return
	}
	o.printf("    %s\n", compactionNumbers(c))
	if c.Model != "" {
		o.printf("    by %s, %s tokens in and %s out\n", printable(c.Model), commas(c.PromptTokens), commas(c.OutputTokens))
	}
	for _, b := range []audit.Block{{Title: "focus", Text: c.Focus}, {Title: "note", Text: c.Note}} {
		if b.Text != "" {
			o.block(b)
		}
	}
	o.indented(c.Summary, "    ")
}

func compactionTitle(c *audit.Compaction) string {
	title := fmt.Sprintf("#%d  %s  %s  %s", c.Seq, shortID(c.RecordID), moment(c.CreatedAt), c.State)
	if c.State == audit.Absorbed {
		title += " by " + shortID(c.AbsorbedBy)
	}
	if c.State == audit.Unreadable {
		return title
	}
	title += fmt.Sprintf("  %s, trigger %s, level %d", printable(c.Kind), printable(c.Trigger), c.Level)
	if c.Branch != "" {
		title += ", branch " + printable(c.Branch)
	}
	if c.Agent != "" {
		title += ", tool rounds of " + printable(c.Agent)
	}
	return title
}

func compactionNumbers(c *audit.Compaction) string {
	text := "stands for " + plural(c.Events, "event")
	if c.Absorbs > 0 {
		text += fmt.Sprintf(" (%d of its own window, and what %s stood for)", c.Covers, plural(c.Absorbs, "record"))
	}
	return fmt.Sprintf("%s: %s tokens became %s", text, commas(c.OriginalTokens), commas(c.CompactedTokens))
}
