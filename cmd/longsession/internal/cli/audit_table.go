package cli

import (
	"strings"

	"github.com/rivo/uniseg"
)

// sessionHeads head the table of sessions. The first three are names.
var sessionHeads = []string{"app", "user", "session", "events", "compactions", "seen", "seen tokens", "all tokens", "created", "updated"}

// sessionOver and sessionUnder are the heads in two lines, for a terminal.
var (
	sessionOver  = []string{"", "", "", "", "com-", "", "tokens", "tokens", "", ""}
	sessionUnder = []string{"app", "user", "session", "events", "pact.", "seen", "seen", "all", "created", "updated"}
)

const (
	sessionNameColumns = 3
	sessionCreated     = 8
)

// sessionLines are the columns that share a line where there is no table.
var sessionLines = [][]int{{3, 4}, {5, 6, 7}, {8, 9}}

// sessionTable lists sessions: as a table or, where the screen is too narrow for it, as lines of "name:
// value". Names stand in full, however long they are.
type sessionTable struct {
	screen screen
	rows   [][]string
}

func (t *sessionTable) add(s listed) {
	seen, tokens, all := commas(s.ViewEvents), commas(s.ViewTokens), commas(s.AllTokens)
	if s.Error != "" {
		seen, tokens, all = "?", "?", "?"
	}
	t.rows = append(t.rows, []string{
		printable(s.App), printable(s.User), printable(s.ID), commas(int(s.Events)), commas(s.Compactions),
		seen, tokens, all, moment(s.Created), moment(s.Updated),
	})
}

func (t *sessionTable) String() string {
	heads := [][]string{sessionHeads}
	if t.screen.columns > 0 {
		heads = [][]string{sessionOver, sessionUnder}
	}
	widths := make([]int, len(sessionHeads))
	for i := range widths {
		for _, head := range heads {
			widths[i] = max(widths[i], len(head[i]))
		}
		for _, row := range t.rows {
			widths[i] = max(widths[i], uniseg.StringWidth(row[i]))
		}
	}
	if t.screen.columns == 0 {
		return t.table(heads, widths)
	}
	if t.screen.columns >= tableWidth && fitColumns(widths, t.screen.columns) {
		return t.table(heads, widths)
	}
	return t.lines()
}

const columnGap = 2

// fitColumns leaves out when sessions were created if a screen is too narrow for all columns. It reports
// whether that was enough. No name is shortened: it is what the other commands take.
func fitColumns(widths []int, columns int) bool {
	excess := -columns - columnGap
	for _, w := range widths {
		excess += w + columnGap
	}
	if excess > 0 {
		excess -= widths[sessionCreated] + columnGap
		widths[sessionCreated] = 0
	}
	return excess <= 0
}

// table writes the columns that have a width.
func (t *sessionTable) table(heads [][]string, widths []int) string {
	var b strings.Builder
	line := func(row []string) string {
		var line strings.Builder
		for i, value := range row {
			switch {
			case widths[i] == 0:
				continue
			case i < sessionNameColumns || i >= sessionCreated:
				line.WriteString(pad(value, widths[i]))
			default: // a number
				line.WriteString(strings.Repeat(" ", widths[i]-uniseg.StringWidth(value)) + value)
			}
			line.WriteString(strings.Repeat(" ", columnGap))
		}
		return strings.TrimRight(line.String(), " ")
	}
	for _, head := range heads {
		b.WriteString(t.screen.strong(line(head)) + "\n")
	}
	for _, row := range t.rows {
		b.WriteString(line(row) + "\n")
	}
	return b.String()
}

func (t *sessionTable) lines() string {
	var b strings.Builder
	for _, row := range t.rows {
		name := strings.Join(row[:sessionNameColumns], "/")
		b.WriteString(t.screen.strong(hanging(name, t.screen.columns)) + "\n")
		for _, columns := range sessionLines {
			var line []painted
			for _, i := range columns {
				line = append(line, painted{pair: pair{sessionHeads[i], row[i]}})
			}
			b.WriteString(t.screen.pairs(2, line))
		}
	}
	return b.String()
}
