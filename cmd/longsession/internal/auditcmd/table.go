package auditcmd

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// sessionHeads are the columns of the table of sessions. The first three are names. over and under
// are the heading in two lines, for a terminal.
var sessionHeads = []struct{ name, over, under string }{
	{"app", "", "app"}, {"user", "", "user"}, {"session", "", "session"},
	{"events", "", "events"}, {"compactions", "com-", "pact."}, {"seen", "", "seen"},
	{"seen tokens", "tokens", "seen"}, {"all tokens", "tokens", "all"},
	{"created", "", "created"}, {"updated", "", "updated"}, {"subtasks", "sub-", "tasks"},
}

const (
	sessionNameColumns = 3
	sessionCreated     = 8
	sessionSubtasks    = 10
	columnGap          = 2
)

// sessionLines are the columns that share a line where there is no room for a table.
var sessionLines = [][]int{{3, 4}, {5, 6, 7}, {8, 9}, {10}}

// sessionTable lists sessions in a table or, on a narrow screen, in lines of "name: value". It
// never shortens a name, since the other commands take it as an argument.
type sessionTable struct {
	screen terminal.Screen
	rows   [][]string
	// subtasks is true if a session has some. Without any there is no column for them.
	subtasks bool
}

func (t *sessionTable) add(s listed) {
	seen, tokens, all := terminal.Commas(s.ViewEvents), terminal.Commas(s.ViewTokens), terminal.Commas(s.AllTokens)
	if s.Error != "" {
		seen, tokens, all = "?", "?", "?"
	}
	t.rows = append(t.rows, []string{
		terminal.Printable(s.App), terminal.Printable(s.User), terminal.Printable(s.ID), terminal.Commas(s.Events), terminal.Commas(s.Compactions),
		seen, tokens, all, moment(s.Created), moment(s.Updated), terminal.Commas(s.Subtasks),
	})
	t.subtasks = t.subtasks || s.Subtasks > 0
}

// String writes the table. A terminal gets headings in two lines, which are narrower, and lines instead
// of a table if there is too little room. A file or a pipe gets every column and a heading in one
// line, so that programs can split it.
func (t *sessionTable) String() string {
	var names, over, under []string
	for _, h := range sessionHeads {
		names, over, under = append(names, h.name), append(over, h.over), append(under, h.under)
	}
	heads := [][]string{over, under}
	if t.screen.Columns == 0 {
		heads = [][]string{names}
	}
	widths := make([]int, len(sessionHeads))
	for i := range widths {
		for _, row := range append(heads, t.rows...) {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	if !t.subtasks {
		widths[sessionSubtasks] = 0
	}
	if t.screen.Columns == 0 || t.screen.Columns >= terminal.TableWidth && fitColumns(widths, t.screen.Columns) {
		return t.table(heads, widths)
	}
	return t.lines()
}

// fitColumns drops the column "created" if a screen is too narrow for all columns. It reports
// whether the rest fits. A dropped column has the width 0.
func fitColumns(widths []int, columns int) bool {
	excess := -columns - columnGap
	for _, w := range widths {
		if w > 0 {
			excess += w + columnGap
		}
	}
	if excess > 0 {
		excess -= widths[sessionCreated] + columnGap
		widths[sessionCreated] = 0
	}
	return excess <= 0
}

// table writes the columns whose width is not 0.
func (t *sessionTable) table(heads [][]string, widths []int) string {
	line := func(row []string) string {
		var cells []string
		for i, value := range row {
			switch {
			case widths[i] == 0:
				continue
			case i < sessionNameColumns || i >= sessionCreated && i < sessionSubtasks:
				cells = append(cells, terminal.Pad(value, widths[i]))
			default: // a number
				cells = append(cells, terminal.PadLeft(value, widths[i]))
			}
		}
		return strings.TrimRight(strings.Join(cells, strings.Repeat(" ", columnGap)), " ")
	}
	var b strings.Builder
	for _, head := range heads {
		b.WriteString(t.screen.Strong(line(head)) + "\n")
	}
	for _, row := range t.rows {
		b.WriteString(line(row) + "\n")
	}
	return b.String()
}

// lines writes each session as its name and indented lines of values.
func (t *sessionTable) lines() string {
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(t.screen.Strong(t.screen.Hang(strings.Join(row[:sessionNameColumns], "/"))) + "\n")
		for _, columns := range sessionLines {
			var line []terminal.Value
			for _, i := range columns {
				if i == sessionSubtasks && row[i] == "0" {
					continue
				}
				line = append(line, terminal.Value{Name: sessionHeads[i].name, Text: row[i]})
			}
			if len(line) > 0 {
				b.WriteString(t.screen.Values(2, line))
			}
		}
	}
	return b.String()
}
