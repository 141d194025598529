package replaycmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// column is a column of a table: its heading in two lines, and its width. The width is fixed
// because rows are written while the replay runs.
type column struct {
	over, under string
	width       int
}

// table has a column of names and columns of numbers.
type table struct {
	columns []column
	name    int // width of the first column
}

// newTable returns a table of the given width. The names get the room that the numbers leave, up to
// most.
func newTable(width, most int, columns []column) table {
	for _, c := range columns {
		width -= c.width + 1
	}
	return table{columns, max(1, min(width, most))}
}

// head returns the heading in two lines.
func (t table) head(name string) (over, under string) {
	var first, second []string
	for _, c := range t.columns {
		first, second = append(first, c.over), append(second, c.under)
	}
	return t.row("", first), t.row(name, second)
}

// leastName is the width of a name below which wide numbers are rounded.
const leastName = 12

// row returns a line without its end. A value that is wider than its column takes room from the
// name. If the name has no room to give, the value is rounded to thousands or more. For example, with
// columns of 5, the value 1,234,567 takes four more from the name or becomes 1.2M.
func (t table) row(name string, values []string) string {
	over := func(i int) int { return max(0, uniseg.StringWidth(values[i])-t.columns[i].width) }
	room := t.name
	for i := range t.columns {
		room -= over(i)
	}
	values = slices.Clone(values)
	for i := range t.columns {
		if wider := over(i); wider > 0 && room < min(leastName, t.name) {
			values[i] = rounded(values[i])
			room += wider - over(i)
		}
	}
	var b strings.Builder
	for i, c := range t.columns {
		b.WriteString(" " + terminal.PadLeft(values[i], c.width))
	}
	room = max(1, room)
	return strings.TrimRight(terminal.Pad(terminal.Shorten(name, room), room)+b.String(), " ")
}

// rounded writes a number in thousands, millions and so on. It returns any other text unchanged.
func rounded(text string) string {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return text
	}
	value, prefix := humanize.ComputeSI(n)
	return strconv.FormatFloat(value, 'f', 1, 64) + prefix
}

// replayColumns are the columns of a replay's table. The last one is left out on a narrow screen.
var replayColumns = []column{
	{"", "turns", 5}, {"model", "calls", 5},
	{"tokens", "without", 10}, {"tokens", "with", 10}, {"", "saved", 6},
	{"US $", "without", 7}, {"US $", "with", 7},
	{"com-", "pact.", 5}, {"largest", "without", 7}, {"largest", "with", 7},
	{"orph-", "ans", 5}, {"events", "stored", 6},
}

// replayGroups are the lines that take the place of a table on a narrow screen.
var replayGroups = [][]struct {
	name   string
	column int
}{
	{{"turns", 0}, {"model calls", 1}, {"events stored", 11}},
	{{"tokens without", 2}, {"with", 3}, {"saved", 4}},
	{{"US $ without", 5}, {"with", 6}, {"compactions", 7}},
	{{"largest prompt without", 8}, {"with", 9}, {"orphans", 10}},
}

// rows writes the lines of a replay: one for each conversation, and the total.
type rows struct {
	screen terminal.Screen
	priced bool
	table  table
}

func newRows(s terminal.Screen, priced bool) rows {
	columns := replayColumns
	if s.Width() < terminal.TableWidth+10 {
		columns = columns[:len(columns)-1]
	}
	return rows{s, priced, newTable(s.Width(), terminal.LineWidth, columns)}
}

// head is the heading of the table. Lines of "name: value" need none.
func (r rows) head() string {
	if !r.screen.Tables() {
		return ""
	}
	over, under := r.table.head("conversation")
	return r.screen.Strong(over) + "\n" + r.screen.Strong(under) + "\n"
}

// report is the line of one conversation.
func (r rows) report(one *replay.Report) string {
	return r.line(replay.Total{
		Turns: one.Turns, Events: one.Events, Without: one.Without, With: one.With, SavedPercent: one.SavedPercent,
		Compactions: len(one.Compactions), Summarizer: one.Summarizer, Orphans: one.Orphans,
	}, false, terminal.Printable(one.ID))
}

// total is the last line. An interrupted run has a total of what was played so far.
func (r rows) total(sum *summary) string {
	n := terminal.Commas(sum.conversations())
	if sum.complete {
		return r.line(sum.totals[0], true, "total of "+n, n+" in all")
	}
	return r.line(sum.totals[0], true, "total so far, "+n, "so far, "+n)
}

// line writes a line with the first of the names that fits.
func (r rows) line(t replay.Total, strong bool, names ...string) string {
	values := replayValues(t, r.priced)
	if !r.screen.Tables() {
		return r.screen.Strong(terminal.Shorten(names[0], r.screen.Width())) + "\n" + r.groups(t, values)
	}
	name := names[0]
	for i := 1; i < len(names) && uniseg.StringWidth(name) > r.table.name; i++ {
		name = names[i]
	}
	row := r.table.row(name, values[:len(r.table.columns)])
	switch {
	case t.Orphans > 0:
		row = r.screen.Bad(row)
	case strong:
		row = r.screen.Strong(row)
	}
	return row + "\n"
}

// groups writes the values of one line in place of a table, a few to a line.
func (r rows) groups(t replay.Total, values []string) string {
	var b strings.Builder
	for _, group := range replayGroups {
		var line []terminal.Value
		for _, one := range group {
			v := terminal.Value{Name: one.name, Text: values[one.column]}
			switch {
			case one.name == "orphans" && t.Orphans > 0:
				v.Paint = r.screen.Bad
			case one.name == "saved":
				v.Paint = gain(r.screen, t.SavedPercent)
			}
			line = append(line, v)
		}
		b.WriteString(r.screen.Values(2, line))
	}
	return b.String()
}

// replayValues are the values of replayColumns. The dollars with compaction include the cost of the
// summaries.
func replayValues(t replay.Total, priced bool) []string {
	return []string{
		terminal.Commas(t.Turns), terminal.Commas(t.With.ModelCalls),
		terminal.Commas(t.Without.PromptTokens), terminal.Commas(t.With.PromptTokens), saved(t.SavedPercent),
		dollars(t.Without.Dollars, priced), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
		terminal.Commas(t.Compactions),
		terminal.Commas(t.Without.LargestPrompt), terminal.Commas(t.With.LargestPrompt),
		terminal.Commas(t.Orphans), terminal.Commas(t.Events),
	}
}

// saved writes a share that reports give in percent.
func saved(percent float64) string { return fmt.Sprintf("%.1f%%", percent) }

// dollars writes USD with enough decimals to tell small amounts apart, or "-" if no prices are
// known.
func dollars(amount float64, priced bool) string {
	switch {
	case !priced:
		return "-"
	case amount >= 100:
		return humanize.CommafWithDigits(amount, 0)
	case amount >= 1:
		return fmt.Sprintf("%.2f", amount)
	default:
		return fmt.Sprintf("%.4f", amount)
	}
}
