package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/rivo/uniseg"

	"github.com/adk-go-ext/longsession/replay"
)

// column is a column of a table: its two lines of heading, and how wide it is. Rows are written while a
// replay runs, so no column can wait for its widest value.
type column struct {
	over, under string
	width       int
}

// table is a name and columns of numbers, on a screen that has room for it.
type table struct {
	columns []column
	name    int // width of the first column
}

// newTable returns a table of so many columns in all. The name gets what the numbers leave, up to most.
func newTable(width, most int, columns []column) table {
	for _, c := range columns {
		width -= c.width + 1
	}
	return table{columns, max(1, min(width, most))}
}

// head is the heading, in two lines.
func (t table) head(name string) (over, under string) {
	var first, second []string
	for _, c := range t.columns {
		first, second = append(first, c.over), append(second, c.under)
	}
	return t.row("", first), t.row(name, second)
}

// leastName is how much of a name is shown before numbers are rounded.
const leastName = 12

// row is a line without its end. A value that is wider than its column takes the room from the name, and is
// rounded to thousands or more where there is none.
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
		b.WriteString(strings.Repeat(" ", 1+max(0, c.width-uniseg.StringWidth(values[i]))) + values[i])
	}
	room = max(1, room)
	return strings.TrimRight(pad(shorten(name, room), room)+b.String(), " ")
}

// rounded writes a number in thousands, millions and so on; anything else as it is.
func rounded(text string) string {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		return text
	}
	value, prefix := humanize.ComputeSI(n)
	return strconv.FormatFloat(value, 'f', 1, 64) + prefix
}

// replayColumns are those of a replay's table. The last one is left out where there is little room.
var replayColumns = []column{
	{"", "turns", 5}, {"model", "calls", 5},
	{"tokens", "without", 10}, {"tokens", "with", 10}, {"", "saved", 6},
	{"US $", "without", 7}, {"US $", "with", 7},
	{"com-", "pact.", 5}, {"largest", "without", 7}, {"largest", "with", 7},
	{"orph-", "ans", 5}, {"events", "stored", 6},
}

// replayGroups are the lines that say the same where there is no table: names of values, by their columns.
var replayGroups = [][]struct {
	name   string
	column int
}{
	{{"turns", 0}, {"model calls", 1}, {"events stored", 11}},
	{{"tokens without", 2}, {"with", 3}, {"saved", 4}},
	{{"US $ without", 5}, {"with", 6}, {"compactions", 7}},
	{{"largest prompt without", 8}, {"with", 9}, {"orphans", 10}},
}

// replayRows writes the lines of a replay: one for each conversation, and the total.
type replayRows struct {
	screen screen
	priced bool
	table  table
}

func newReplayRows(s screen, priced bool) replayRows {
	columns := replayColumns
	if s.width() < tableWidth+10 {
		columns = columns[:len(columns)-1]
	}
	return replayRows{s, priced, newTable(s.width(), lineWidth, columns)}
}

func (r replayRows) head() string {
	if !r.screen.tables() {
		return ""
	}
	over, under := r.table.head("conversation")
	return r.screen.strong(over) + "\n" + r.screen.strong(under) + "\n"
}

func (r replayRows) report(one *replay.Report) string {
	return r.line(replay.Total{
		Turns: one.Turns, Events: one.Events, Without: one.Without, With: one.With, SavedPercent: one.SavedPercent,
		Compactions: len(one.Compactions), Summarizer: one.Summarizer, Orphans: one.Orphans,
	}, false, printable(one.ID))
}

func (r replayRows) total(sum *summary) string {
	n := commas(sum.conversations())
	if sum.complete {
		return r.line(sum.totals[0], true, "total of "+n, n+" in all")
	}
	return r.line(sum.totals[0], true, "total so far, "+n, "so far, "+n)
}

// line writes a line under the first of the names that fits.
func (r replayRows) line(t replay.Total, strong bool, names ...string) string {
	values := replayValues(t, r.priced)
	if !r.screen.tables() {
		return r.screen.strong(shorten(names[0], r.screen.width())) + "\n" + r.groups(t, values)
	}
	name := names[0]
	for i := 1; i < len(names) && uniseg.StringWidth(name) > r.table.name; i++ {
		name = names[i]
	}
	row := r.table.row(name, values[:len(r.table.columns)])
	switch {
	case t.Orphans > 0:
		row = r.screen.bad(row)
	case strong:
		row = r.screen.strong(row)
	}
	return row + "\n"
}

func (r replayRows) groups(t replay.Total, values []string) string {
	var b strings.Builder
	for _, group := range replayGroups {
		var line []painted
		for _, one := range group {
			p := painted{pair: pair{one.name, values[one.column]}}
			switch {
			case one.name == "orphans" && t.Orphans > 0:
				p.paint = r.screen.bad
			case one.name == "saved":
				p.paint = r.screen.gain(t.SavedPercent)
			}
			line = append(line, p)
		}
		b.WriteString(r.screen.pairs(2, line))
	}
	return b.String()
}

// replayValues are those of replayColumns. What the summaries cost is in the dollars with compaction: it
// is paid, too.
func replayValues(t replay.Total, priced bool) []string {
	return []string{
		commas(t.Turns), commas(t.With.ModelCalls),
		commas(t.Without.PromptTokens), commas(t.With.PromptTokens), saved(t.SavedPercent),
		dollars(t.Without.Dollars, priced), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
		commas(t.Compactions),
		commas(t.Without.LargestPrompt), commas(t.With.LargestPrompt),
		commas(t.Orphans), commas(t.Events),
	}
}

// saved writes a share in percent, as reports have it.
func saved(percent float64) string { return fmt.Sprintf("%.1f%%", percent) }
