package replaycmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// saidLine is how much of what people said the prompts had after the first compaction.
func saidLine(on terminal.Screen, t replay.Total) string {
	s := t.With
	if s.Said == 0 {
		return ""
	}
	text := fmt.Sprintf("after the first compaction, prompts had %s of the messages of people before them word for word", percentOf(s.SaidWhole, s.Said))
	if s.Instructions > 0 {
		text += ", and " + percentOf(s.InstructionsWhole, s.Instructions) + " of those that instruct"
	}
	return on.Labeled("words", text)
}

// keptLine is what was found when summaries that a model wrote were checked.
func keptLine(on terminal.Screen, t replay.Total) string {
	s := t.Summarizer
	if s.Measured == 0 && s.Invented == 0 {
		return ""
	}
	var text []string
	if s.Measured > 0 {
		text = append(text, fmt.Sprintf("after %s, the view had %.0f%% of the exact values of what was summarized", terminal.Plural(s.Measured, "compaction"), 100*s.Kept))
	}
	if s.Invented > 0 {
		text = append(text, terminal.Plural(s.Invented, "invented value")+" cut out")
	}
	return on.Labeled("values", strings.Join(text, "; "))
}

// percentOf returns a part of all, which is not 0, as in "86%".
func percentOf(part, all int) string { return fmt.Sprintf("%d%%", 100*part/all) }

// keptColumns are the columns of what summaries keep, by policies. Its first number is of the summaries that a model wrote.
var keptColumns = []column{
	{"by the", "model", 8}, {"", "failed", 6}, {"values", "kept", 6}, {"in-", "vented", 6}, {"words", "whole", 6}, {"", "calls", 6}, {"US $ for", "summaries", 9}, {"", "seconds", 8},
}

var keptNames = []string{"summaries by the model", "failed", "values kept", "invented", "words whole", "calls", "US $ for summaries", "seconds"}

// keptTable puts the models of a grid side by side: what their summaries keep, and what they cost. It is "" if no model was to
// write any.
func keptTable(s terminal.Screen, totals []replay.Total) string {
	if !slices.ContainsFunc(totals, byAModel) {
		return ""
	}
	var lines []gridLine
	for _, t := range totals {
		w, values := t.Summarizer, []string{"-", "-", "-", "-", "-", "-", "-", "-"}
		if byAModel(t) {
			values[0] = fmt.Sprintf("%s/%s", terminal.Commas(w.Written), terminal.Commas(w.Written+w.WithoutModel))
			values[1], values[3], values[5] = terminal.Commas(w.Failed), terminal.Commas(w.Invented), terminal.Commas(w.Calls)
			values[6], values[7] = dollars(w.Dollars, w.Dollars > 0), fmt.Sprintf("%.1f", w.Seconds)
		}
		if w.Measured > 0 {
			values[2] = fmt.Sprintf("%.0f%%", 100*w.Kept)
		}
		if t.With.Said > 0 {
			values[4] = percentOf(t.With.SaidWhole, t.With.Said)
		}
		lines = append(lines, gridLine{policy: t.Policy, values: values})
	}
	return tableOfPolicies(s, keptColumns, keptNames, lines)
}

// byAModel reports whether a model was to write the summaries.
func byAModel(t replay.Total) bool {
	return t.Summarizer.Seconds > 0 && t.Summarizer.Written+t.Summarizer.Failed+t.Summarizer.WithoutModel > 0
}
