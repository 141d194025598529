package auditcmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/record"
)

// output writes the results of the commands: text for people, or JSON Lines. It remembers the first
// write that failed, so the functions that write text need not return an error. A command that writes
// much asks for it in between, to end soon when the reader of a pipe is gone.
type output struct {
	to     *bufio.Writer
	screen terminal.Screen
	json   *json.Encoder // nil for text
	err    error         // of the first failed write
	done   func() string // how far the command came, for the message of an interrupt
}

func newOutput(w io.Writer, asJSON bool) *output {
	o := &output{to: bufio.NewWriter(w), screen: terminal.Of(w), done: func() string { return "nothing was shown" }}
	if asJSON {
		o.json = json.NewEncoder(terminal.Harmless(o.to))
		o.json.SetEscapeHTML(false)
	}
	return o
}

// line writes a JSON object.
func (o *output) line(value any) error { return o.json.Encode(value) }

// writeAll writes every item as a JSON object, or with show as text. It ends with the first write
// that fails.
func writeAll[T any](o *output, items []T, show func(T)) error {
	for _, item := range items {
		if o.json == nil {
			show(item)
		} else if err := o.line(item); err != nil {
			return err
		}
		if o.err != nil {
			return o.err
		}
	}
	return nil
}

// printf writes text that is safe to show. On a terminal it wraps long lines, as [terminal.Hang]
// does.
func (o *output) printf(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		line, ended := strings.CutSuffix(line, "\n")
		o.raw(o.screen.Hang(line))
		if ended {
			o.raw("\n")
		}
	}
}

func (o *output) raw(text string) {
	if _, err := o.to.WriteString(text); o.err == nil {
		o.err = err
	}
}

func (o *output) flush() error {
	if err := o.to.Flush(); o.err == nil {
		o.err = err
	}
	return o.err
}

// moment shows a time to the second: "2026-01-01 00:00:01" for 2026-01-01T00:00:01.5Z. It shows text
// that is no such time as it is, since a damaged file may hold any.
func moment(at string) string {
	const layout = "2006-01-02T15:04:05"
	if len(at) > len(layout) && at[len("2006-01-02")] == 'T' {
		at = at[:len("2006-01-02")] + " " + at[len("2006-01-02T"):len(layout)]
	}
	return terminal.Printable(at)
}

// indented writes recorded text line by line.
func (o *output) indented(text, indent string) {
	width := 0
	if o.screen.Columns > 0 {
		width = max(o.screen.Columns-len(indent), terminal.Narrowest/2)
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		pieces := []string{terminal.Printable(strings.TrimSuffix(line, "\r"))}
		if width > 0 {
			pieces = terminal.Wrap(pieces[0], width)
		}
		for _, piece := range pieces {
			o.raw(strings.TrimRight(indent+piece, " ") + "\n")
		}
	}
}

// entry writes an event and its content.
func (o *output) entry(e *audit.Entry) {
	o.title(entryTitle(e))
	o.blocks(e)
}

func (o *output) blocks(e *audit.Entry) {
	for _, b := range audit.Blocks(e) {
		o.block(b)
	}
}

// title writes the first line of an event or a record.
func (o *output) title(text string) { o.raw(o.screen.Strong(o.screen.Hang(text)) + "\n") }

// good writes a line about a check that found nothing.
func (o *output) good(text string) { o.raw(o.screen.Good(o.screen.Hang(text)) + "\n") }

// bad writes a finding.
func (o *output) bad(text string) { o.raw(o.screen.Bad(o.screen.Hang(text)) + "\n") }

// entryTitle is the first line of an event, such as
//
//	#3  2026-01-01 00:00:03  user  branch root.desk  [covered by 0b5c6f0e]
func entryTitle(e *audit.Entry) string {
	title := "summary"
	if e.Record != nil && e.Record.Kind == string(record.KindCheckpoint) {
		title = e.Record.Kind
	}
	if e.Seq > 0 {
		title = fmt.Sprintf("#%d", e.Seq)
	}
	for _, part := range []string{moment(e.Time), terminal.Printable(e.Author)} {
		if part != "" {
			title += "  " + part
		}
	}
	if e.Branch != "" {
		title += "  branch " + terminal.Printable(e.Branch)
	}
	if e.Scope != "" {
		title += "  scope " + terminal.Printable(e.Scope)
	}
	if e.Record != nil {
		title += "  record " + terminal.Printable(e.Record.RecordID)
	}
	if e.CoveredBy != "" {
		title += "  [covered by " + terminal.Printable(e.CoveredBy) + "]"
	}
	return title
}

// block writes a part of an event, indented: its title and text on one line, or the text below the
// title if it has several lines.
func (o *output) block(b audit.Block) {
	const indent = "    "
	switch title := terminal.Printable(b.Title); {
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
func (o *output) compaction(c *audit.Compaction) {
	o.title(compactionTitle(c))
	if c.State == audit.Unreadable {
		o.indented("cannot be read: "+c.Problem, "    ")
		return
	}
	o.printf("    %s\n", compactionNumbers(c))
	if c.Model != "" {
		o.printf("    by %s, %s tokens in and %s out\n", terminal.Printable(c.Model), terminal.Commas(c.PromptTokens), terminal.Commas(c.OutputTokens))
	}
	if checked := compactionChecked(c); checked != "" {
		o.printf("    %s\n", checked)
	}
	o.asked(c)
	o.indented(c.Summary, "    ")
}

// asked writes what somebody said about a record: what to concentrate on, and a note.
func (o *output) asked(c *audit.Compaction) {
	for _, b := range []audit.Block{{Title: "focus", Text: c.Focus}, {Title: "note", Text: c.Note}, {Title: "values", Text: c.ValueTexts()}} {
		if b.Text != "" {
			o.block(b)
		}
	}
}

// compactionTitle is the first line of a record, such as
//
//	#8  0b5c6f0e  2026-01-01 00:00:09  absorbed by 9d2e41aa  summary, trigger manual, level 0
func compactionTitle(c *audit.Compaction) string {
	title := fmt.Sprintf("#%d  %s  %s  %s", c.Seq, terminal.Printable(c.RecordID), moment(c.CreatedAt), c.State)
	if c.State == audit.Absorbed {
		title += " by " + terminal.Printable(c.AbsorbedBy)
	}
	if c.State == audit.Unreadable {
		return title
	}
	title += fmt.Sprintf("  %s, trigger %s, level %d", terminal.Printable(c.Kind), terminal.Printable(c.Trigger), c.Level)
	if c.Branch != "" {
		title += ", branch " + terminal.Printable(c.Branch)
	}
	if c.Scope != "" {
		title += ", scope " + terminal.Printable(c.Scope)
	}
	if c.Agent != "" {
		title += ", tool rounds of " + terminal.Printable(c.Agent)
	}
	return title
}

// compactionChecked is what was found when a model's summary was checked, "" for nothing, such as
//
//	53% of its exact values are in the view; 2 invented values cut out of the summary
func compactionChecked(c *audit.Compaction) string {
	var parts []string
	if c.Kept != nil {
		parts = append(parts, fmt.Sprintf("%.0f%% of its exact values are in the view", 100**c.Kept))
	}
	if c.Invented > 0 {
		parts = append(parts, terminal.Plural(c.Invented, "invented value")+" cut out of the summary")
	}
	return strings.Join(parts, "; ")
}

// compactionNumbers sums up the effect of a record, such as
//
//	covers 7 events (1 of its own window, the others through 2 absorbed records): 900 tokens became 80
func compactionNumbers(c *audit.Compaction) string {
	text := "covers " + terminal.Plural(c.Events, "event")
	if c.Absorbs > 0 {
		text += fmt.Sprintf(" (%d of its own window, the others through %s)", c.Covers, terminal.Plural(c.Absorbs, "absorbed record"))
	}
	return fmt.Sprintf("%s: %s tokens became %s", text, terminal.Commas(c.OriginalTokens), terminal.Commas(c.CompactedTokens))
}
