package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// columns of the tables, to the right of the way's name.
var columns = []struct {
	name, meaning string
	// cell formats f. bare is the result without any shortening.
	cell func(f, bare figures) string
}{
	{"requests that lack a user message (cut or rough)", "requests without a message that the user had sent, neither word for word nor as a fact of a summary; in brackets, those whose missing messages are all cut or rough, as in the next columns",
		func(f, _ figures) string { return fmt.Sprintf("%d of %d (%d)", f.missing, f.requests, f.missingCut) }},
	{"tool results known at the end", "in the last request, word for word or as a fact of a summary whose writer read the result uncut",
		func(f, _ figures) string { return fmt.Sprintf("%d of %d", f.kept, f.results) }},
	{"readable", "of the other results, those whose reference the last request has and whose whole text was then read back from the session's storage, byte for byte",
		func(f, _ figures) string { return fmt.Sprint(f.readable) }},
	{"cut; rough", "of the other results, those that the writer of a summary read cut, because it could not read more; and the rest in conversations with a summary written without the writer",
		func(f, _ figures) string { return fmt.Sprintf("%d; %d", f.cut, f.roughly) }},
	{"never read", "tool results that the request after them lacks, with no reference to the whole in their place, so the model never saw them",
		func(f, _ figures) string { return fmt.Sprint(f.unread) }},
	{"orphans", "calls without their response and responses without their call, in all requests",
		func(f, _ figures) string { return fmt.Sprint(f.orphans) }},
	{"leaks", "texts of another branch, in all requests",
		func(f, _ figures) string { return fmt.Sprint(f.leaked) }},
	{"over the window (avoidable)", fmt.Sprintf("requests that are longer than the window; how many are so although the instructions, the turn's message of the user, what the model reads for the first time, and %d tokens for a summary of the rest would fit", shortestSummary),
		func(f, _ figures) string { return fmt.Sprintf("%d (%d)", f.over, f.avoidable) }},
	{"prompt tokens", "of all requests, estimated, without tool declarations",
		func(f, _ figures) string { return count(f.prompt) }},
	{"dollars", fmt.Sprintf("for prompts and summaries, at %v per million tokens, %v if the request before began with them, and %v for each million that the writer of summaries wrote", priceInput, priceCached, priceOutput),
		func(f, _ figures) string { return fmt.Sprintf("%.2f", f.dollars()) }},
	{"prefix breaks", "requests that do not begin with all of the request before",
		func(f, _ figures) string { return fmt.Sprint(f.breaks) }},
	{"largest prompt", "in tokens",
		func(f, _ figures) string { return count(f.largest) }},
	{"prefix kept", "bytes of a request that the next one begins with, which a provider's cache can serve",
		func(f, _ figures) string { return share(f.same, f.before) }},
	{"summaries (a turn waited; too long; rough)", "calls of the model that writes summaries; those for which a turn waited; those larger than its window; summaries written without it",
		func(f, _ figures) string {
			return fmt.Sprintf("%d (%d; %d; %d)", f.calls, f.waited, f.writerOver, f.rough)
		}},
	{"their tokens", "read and written by it",
		func(f, _ figures) string { return count(f.tokens) }},
	{"events added (storage)", "events stored in addition to those of the conversations; the increase in size of all events as JSON",
		func(f, bare figures) string {
			return fmt.Sprintf("%d (%s)", f.events-bare.events, humanize.Bytes(uint64(max(0, f.bytes-bare.bytes))))
		}},
	{"state keys (written)", "in the state of a session at its end, the largest number of any conversation; how often one was written in all",
		func(f, _ figures) string { return fmt.Sprintf("%d (%s)", f.keys, count(f.writes)) }},
	{"time", "to play it all, with models that answer at once: the least of all runs",
		func(f, _ figures) string { return f.took.Round(time.Millisecond).String() }},
}

// printLegend explains the columns.
func printLegend(out io.Writer) {
	for _, c := range columns {
		fmt.Fprintf(out, "* %s: %s\n", c.name, c.meaning)
	}
	fmt.Fprintln(out)
}

func count(n int) string { return humanize.Comma(int64(n)) }

func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// printTable prints one table. The first row is the way without shortening.
func printTable(out io.Writer, title string, rows []row) {
	fmt.Fprintf(out, "### %s\n\n| |", title)
	for _, c := range columns {
		fmt.Fprintf(out, " %s |", c.name)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(out, "| %s |", r.way.name)
		for _, c := range columns {
			fmt.Fprintf(out, " %s |", c.cell(r.figures, rows[0].figures))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}
