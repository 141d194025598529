package recallcmd

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
)

// output writes what was found.
type output struct {
	to     *bufio.Writer
	screen terminal.Screen
	words  []string // of the query, as the index knows them, the longest first
	whole  bool
}

func newOutput(w io.Writer, query string, whole bool) *output {
	o := &output{to: bufio.NewWriter(w), screen: terminal.Of(w), whole: whole}
	o.words = slices.Clone(wordsearch.Ask(query).Terms)
	slices.SortStableFunc(o.words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return o
}

// objects writes a JSON object for each event.
func (o *output) objects(found []audit.Passage) error {
	encoder := json.NewEncoder(terminal.Harmless(o.to))
	encoder.SetEscapeHTML(false)
	for _, p := range found {
		for _, f := range p {
			if err := encoder.Encode(f); err != nil {
				return err
			}
		}
	}
	return o.to.Flush()
}

// passages writes text for people, with an empty line between two passages.
func (o *output) passages(found []audit.Passage) error {
	if len(found) == 0 {
		o.line("nothing was found")
	}
	for i, p := range found {
		if i > 0 {
			o.raw("\n")
		}
		for _, f := range p {
			o.event(f)
		}
	}
	return o.to.Flush()
}

// event writes an event, such as
//
//	> #3  2026-01-01 00:00:03  user  turn 2
//	    I live at 4 Mill Lane.
func (o *output) event(f audit.Found) {
	mark := " "
	if f.Score > 0 {
		mark = ">"
	}
	title := fmt.Sprintf("%s #%d", mark, f.Seq)
	for _, part := range []string{clock(f.Time), terminal.Printable(f.Author)} {
		if part != "" {
			title += "  " + part
		}
	}
	title += fmt.Sprintf("  turn %d", f.Turn)
	if f.Branch != "" {
		title += "  branch " + terminal.Printable(f.Branch)
	}
	if f.Scope != "" {
		title += "  scope " + terminal.Printable(f.Scope)
	}
	title = o.screen.Hang(title)
	if f.Score > 0 {
		title = o.screen.Strong(title)
	}
	o.raw(title + "\n")
	for _, b := range audit.Blocks(&f.Entry) {
		switch b.Kind {
		case "thought", "spent", "state": // neither is searched
			continue
		}
		text := o.excerpt(b.Text)
		if b.Title != "" {
			text = b.Title + ": " + text
		}
		o.indented(text)
	}
}

// clock shows a time to the second. Text that is no time is shown as it is, because a damaged file may hold any.
func clock(at string) string {
	const layout = "2006-01-02T15:04:05"
	if len(at) > len(layout) && at[len("2006-01-02")] == 'T' {
		at = at[:len("2006-01-02")] + " " + at[len("2006-01-02T"):len(layout)]
	}
	return terminal.Printable(at)
}

func (o *output) line(text string) { o.raw(o.screen.Hang(text) + "\n") }

func (o *output) raw(text string) { _, _ = o.to.WriteString(text) } // Flush returns the error

func (o *output) indented(text string) {
	const indent = "    "
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		pieces := []string{terminal.Printable(strings.TrimSuffix(line, "\r"))}
		if o.screen.Columns > 0 {
			pieces = terminal.Wrap(pieces[0], max(o.screen.Columns-len(indent), terminal.Narrowest/2))
		}
		for _, piece := range pieces {
			o.raw(strings.TrimRight(indent+piece, " ") + "\n")
		}
	}
}

const (
	// excerptBytes is the length of a text that is shown whole, and lead how much of it comes before a word of the
	// query.
	excerptBytes = 1_200
	lead         = 300
)

// excerpt cuts a long text around the longest word of the query that it has, between characters.
func (o *output) excerpt(text string) string {
	if o.whole || len(text) <= excerptBytes {
		return text
	}
	from := 0
	lower := strings.ToLower(text)
	for _, word := range o.words {
		if at := strings.Index(lower, word); at >= 0 {
			from = at
			break
		}
	}
	from = boundary(text, max(0, min(from-lead, len(text)-excerptBytes)))
	to := boundary(text, min(len(text), from+excerptBytes))
	cut := text[from:to]
	if from > 0 {
		cut = "… " + cut
	}
	if to < len(text) {
		cut += fmt.Sprintf(" … (%s bytes; --whole shows all)", terminal.Commas(len(text)))
	}
	return cut
}

// boundary is the end of the character at or before a position.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
