package cli

import (
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/internal/replay"
)

// idWidth is how many columns of a conversation's ID a table shows.
const idWidth = 20

// tableForm is a line of 120 columns. The lines are written while the replay runs, so the columns cannot
// wait for the widest number: one that is wider pushes the rest of its line to the right.
const tableForm = "%s %5s %5s %11s %11s %6s %8s %8s %5s %9s %9s %5s %6s\n"

var tableHead = heading("", "", "model", "tokens", "tokens", "", "US $", "US $", "com-", "largest", "largest", "orph-", "events") +
	heading("conversation", "turns", "calls", "without", "with", "saved", "without", "with", "pact.", "without", "with", "ans", "stored")

func heading(name string, titles ...any) string { return trimLine(tableText(name, titles...)) }

func tableText(name string, values ...any) string {
	return fmt.Sprintf(tableForm, append([]any{pad(name, idWidth)}, values...)...)
}

func trimLine(line string) string { return strings.TrimRight(line, " \n") + "\n" }

func tableRow(r *replay.Report, priced bool) string {
	return tableLine(replay.Total{
		Turns: r.Turns, Events: r.Events, Without: r.Without, With: r.With, SavedPercent: r.SavedPercent,
		Compactions: len(r.Compactions), Summarizer: r.Summarizer, Orphans: r.Orphans,
	}, shorten(printable(r.ID), idWidth), priced)
}

func tableTotal(sum *summary, priced bool) string {
	name := "total of " + commas(sum.conversations())
	if !sum.complete {
		name = "total so far, " + commas(sum.conversations())
	}
	return tableLine(sum.totals[0], name, priced)
}

// tableLine writes a line. What the summaries cost is in the dollars with compaction: it is paid, too.
func tableLine(t replay.Total, name string, priced bool) string {
	return tableText(name,
		commas(t.Turns), commas(t.With.ModelCalls),
		commas(t.Without.PromptTokens), commas(t.With.PromptTokens), saved(t.SavedPercent),
		dollars(t.Without.Dollars, priced), dollars(t.With.Dollars+t.Summarizer.Dollars, priced),
		commas(t.Compactions),
		commas(t.Without.LargestPrompt), commas(t.With.LargestPrompt),
		commas(t.Orphans), commas(t.Events))
}

// saved writes a share in percent, as reports have it.
func saved(percent float64) string { return fmt.Sprintf("%.1f%%", percent) }
