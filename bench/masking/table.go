package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// The goals of the default setting in a window of 128,000 tokens.
const (
	goalSaved  = 0.44
	goalPrice  = 0.65
	goalBreaks = 0.1 // of masking on every call
	goalWindow = 128_000
	goalBatch  = 5_000
)

func printTable(out io.Writer, rows []row, sessions, fixed int) {
	whole := rows[0].whole
	fmt.Fprintf(out, "%d sessions, %s calls, %s prompt tokens without masking, %s of them instructions and declarations in each call\n\n",
		sessions, count(whole.requests), count(whole.prompt), count(fixed))
	fmt.Fprintln(out, "| masks | batch | tokens saved | results masked at the end | calls that broke the prefix | cost, 1 without masking |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|")
	for _, r := range rows {
		fmt.Fprintf(out, "| %s | %s | %.1f%% | %s | %s | %.2f |\n", r.place(), r.batch(), 100*r.saved(), count(r.masked), count(r.breaks), r.price())
	}
	fmt.Fprintln(out)
}

// place says in which requests a setting masks.
func (s setting) place() string {
	if s.masking.From == toolresult.Off {
		return "always"
	}
	return fmt.Sprintf("over %v of %s", s.masking.From, count(s.window))
}

func (s setting) batch() string {
	if s.masking.BatchTokens == toolresult.Off {
		return "every call"
	}
	return count(s.masking.BatchTokens)
}

func count(n int) string { return humanize.Comma(int64(n)) }

// missedGoals compares the default with its goals.
func missedGoals(rows []row) []string {
	var each, standard row
	for _, r := range rows {
		if r.masking.From == toolresult.Off && r.masking.BatchTokens == toolresult.Off {
			each = r
		}
		if r.window == goalWindow && r.masking.BatchTokens == goalBatch {
			standard = r
		}
	}
	var missed []string
	if standard.saved() < goalSaved {
		missed = append(missed, fmt.Sprintf("the default saves %.1f%% of the tokens, want %.0f%%", 100*standard.saved(), 100*goalSaved))
	}
	if standard.price() > goalPrice {
		missed = append(missed, fmt.Sprintf("the default costs %.2f of no masking, want %.2f", standard.price(), goalPrice))
	}
	if float64(standard.breaks) > goalBreaks*float64(each.breaks) {
		missed = append(missed, fmt.Sprintf("the default breaks the prefix %d times, want at most a tenth of %d", standard.breaks, each.breaks))
	}
	for _, r := range rows {
		if r.breaks != r.batches {
			missed = append(missed, fmt.Sprintf("%s, batch %s: %d calls broke the prefix, and the masker reported %d batches", r.place(), r.batch(), r.breaks, r.batches))
		}
	}
	return missed
}
