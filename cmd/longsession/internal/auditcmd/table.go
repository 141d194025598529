package auditcmd

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// sessionColumn is a column of the table of sessions.
type sessionColumn struct {
	name        string
	over, under string // the heading in two lines, for a terminal
	// line is the line that the value is in where there is no room for a table; line 0 is the name of the session.
	line  int
	align func(text string, width int) string
	cell  func(s *listed) string
	// leftOut says when the column is: on a screen that is too narrow for all, where its value is 0, or never.
	leftOut string
}

const never, narrow, zero = "", "narrow", "zero"

var sessionColumns = []sessionColumn{
	{"app", "", "app", 0, terminal.Pad, func(s *listed) string { return terminal.Printable(s.App) }, never},
	{"user", "", "user", 0, terminal.Pad, func(s *listed) string { return terminal.Printable(s.User) }, never},
	{"session", "", "session", 0, terminal.Pad, func(s *listed) string { return terminal.Printable(s.ID) }, never},
	{"events", "", "events", 1, terminal.PadLeft, func(s *listed) string { return terminal.Commas(s.Events) }, never},
	{"compactions", "com-", "pact.", 1, terminal.PadLeft, func(s *listed) string { return s.seen(s.Made.Compactions) }, never},
	{"merges", "", "merges", 1, terminal.PadLeft, func(s *listed) string { return terminal.Commas(s.Merges) }, zero},
	{"seen", "", "seen", 2, terminal.PadLeft, func(s *listed) string { return s.seen(s.ViewEvents) }, never},
	{"seen tokens", "tokens", "seen", 2, terminal.PadLeft, func(s *listed) string { return s.seen(s.ViewTokens) }, never},
	{"all tokens", "tokens", "all", 2, terminal.PadLeft, func(s *listed) string { return s.seen(s.AllTokens) }, never},
	{"created", "", "created", 3, terminal.Pad, func(s *listed) string { return moment(s.Created) }, narrow},
	{"updated", "", "updated", 3, terminal.Pad, func(s *listed) string { return moment(s.Updated) }, never},
	{"subtasks", "sub-", "tasks", 4, terminal.PadLeft, func(s *listed) string { return terminal.Commas(s.Subtasks) }, zero},
}

// seen shows a number that is not known if the session could not be read.
func (s *listed) seen(n int) string {
	if s.Error != "" {
		return "?"
	}
	return terminal.Commas(n)
}

// sessionTable lists sessions in a table or, on a narrow screen, in lines of "name: value". A terminal gets
// headings in two lines, which are narrower. A file or a pipe gets every column and a heading in one line, so that
// programs can split it. A name is never shortened, since the other commands take it as an argument.
func sessionTable(screen terminal.Screen, sessions []*listed) string {
	for _, all := range []bool{true, false} {
		heads := 2
		if screen.Columns == 0 {
			heads = 1
		}
		lines := make([]string, heads+len(sessions))
		for _, c := range sessionColumns {
			if c.leftOut == narrow && !all || c.leftOut == zero && !slices.ContainsFunc(sessions, func(s *listed) bool { return c.cell(s) != "0" }) {
				continue
			}
			cells, width := []string{c.over, c.under}, 0
			if screen.Columns == 0 {
				cells = []string{c.name}
			}
			for _, s := range sessions {
				cells = append(cells, c.cell(s))
			}
			for _, cell := range cells {
				width = max(width, uniseg.StringWidth(cell))
			}
			for i, cell := range cells {
				if lines[i] != "" {
					lines[i] += "  "
				}
				lines[i] += c.align(cell, width)
			}
		}
		if screen.Columns > 0 && (screen.Columns < terminal.TableWidth || uniseg.StringWidth(lines[0]) > screen.Columns) {
			continue
		}
		for i, line := range lines {
			if lines[i] = strings.TrimRight(line, " "); i < heads {
				lines[i] = screen.Strong(lines[i])
			}
		}
		return strings.Join(lines, "\n") + "\n"
	}
	var b strings.Builder
	for _, s := range sessions {
		lines := map[int][]terminal.Value{}
		for _, c := range sessionColumns {
			if text := c.cell(s); c.leftOut != zero || text != "0" {
				lines[c.line] = append(lines[c.line], terminal.Value{Name: c.name, Text: text})
			}
		}
		var name []string
		for _, part := range lines[0] {
			name = append(name, part.Text)
		}
		b.WriteString(screen.Strong(screen.Hang(strings.Join(name, "/"))) + "\n")
		for i := 1; len(lines[i]) > 0; i++ {
			b.WriteString(screen.Values(2, lines[i]))
		}
	}
	return b.String()
}
