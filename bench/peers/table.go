package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// columns of the tables. The way stands before them.
var columns = []struct {
	name, meaning string
	cell          func(f figures) string
}{
	{"requests that lack a user message", "a message the user had sent stands neither there word for word nor in a summary",
		func(f figures) string { return of(f.missing, f.requests) }},
	{"tool results known at the end", "stand in the last request, word for word or in a summary",
		func(f figures) string { return of(f.kept, f.results) }},
	{"never read", "tool results that the request after them lacks, so the model never saw them",
		func(f figures) string { return fmt.Sprint(f.unread) }},
	{"orphans", "calls without their response and responses without their call, in all requests",
		func(f figures) string { return fmt.Sprint(f.orphans) }},
	{"over the window", "requests that are longer than the window",
		func(f figures) string { return fmt.Sprint(f.over) }},
	{"prompt tokens", "of all requests, estimated, without tool declarations",
		func(f figures) string { return count(f.prompt) }},
	{"largest prompt", "in tokens",
		func(f figures) string { return count(f.largest) }},
	{"prefix kept", "bytes of a request that the next one begins with, which a provider's cache can serve",
		func(f figures) string { return share(f.same, f.before) }},
	{"summaries (a turn waited)", "calls of the model that writes them, and how many held a turn up",
		func(f figures) string { return fmt.Sprintf("%d (%d)", f.calls, f.waited) }},
	{"their tokens", "read and written by it",
		func(f figures) string { return count(f.tokens) }},
	{"state keys (written)", "in the session's state, and how often one was written",
		func(f figures) string { return fmt.Sprintf("%d (%s)", f.keys, count(f.writes)) }},
	{"time", "to play it all, with models that answer at once",
		func(f figures) string { return f.took.Round(time.Millisecond).String() }},
}

// printLegend says what the columns are.
func printLegend(out io.Writer) {
	for _, c := range columns {
		fmt.Fprintf(out, "* %s: %s\n", c.name, c.meaning)
	}
	fmt.Fprintln(out)
}

func of(n, all int) string { return fmt.Sprintf("%d of %d", n, all) }

func count(n int) string { return humanize.Comma(int64(n)) }

func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

func printTable(out io.Writer, title string, rows []row) {
	fmt.Fprintf(out, "### %s\n\n| |", title)
	for _, c := range columns {
		fmt.Fprintf(out, " %s |", c.name)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(out, "| %s |", r.way.name)
		for _, c := range columns {
			fmt.Fprintf(out, " %s |", c.cell(r.figures))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}

// broken are the guarantees of this module that figures do not show.
func broken(f figures) []string {
	var all []string
	check := func(what string, n int) {
		if n != 0 {
			all = append(all, fmt.Sprintf("%s: %d", what, n))
		}
	}
	check("requests that lack a user message", f.missing)
	check("tool results unknown at the end", f.results-f.kept)
	check("tool results never read", f.unread)
	check("orphans", f.orphans)
	check("state keys", f.keys)
	return all
}
