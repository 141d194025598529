package activity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/adk-go-ext/longsession/tokens"
)

// Stats are the figures of one session up to Now. The zero value is a session that was never compacted and has
// no subtasks.
type Stats struct {
	// Now is the time that ages are counted to.
	Now time.Time
	// Compactions and Checkpoints count those ever made, absorbed ones included.
	Compactions, Checkpoints Boundaries
	// Merges counts the summaries that only replaced other summaries.
	Merges int
	// SummaryChars is the length of all summaries ever written, in characters.
	SummaryChars int
	Subtasks     Subtasks
	// Models are those of the session, its subtasks included, in any order.
	Models []Model
}

// Boundaries counts records of one kind.
type Boundaries struct {
	Count int
	// Last is when the newest was made.
	Last time.Time
	// Text is the focus of the newest compaction, or the note of the newest checkpoint. It may be
	// empty.
	Text string
}

// Subtasks sums up the subtasks of a session.
type Subtasks struct {
	Count int
	Usage tokens.Usage
	USD   tokens.Nano
	// Unpriced is true if a model of theirs has no price, so USD lacks its calls.
	Unpriced bool
}

// Model is what one model was used for.
type Model struct {
	Name  string
	Calls int
	Usage tokens.Usage
	USD   tokens.Nano
	// Unpriced is true if the model has no price. USD is then 0 and not shown.
	Unpriced bool
}

// String returns the block, without a newline at the end. A row without anything to show has a 0. The
// models are listed only if there are two or more, the most expensive first. Names, focus and note are put on
// one line, and their control characters are left out, because they may come from a model.
func (s Stats) String() string {
	var b strings.Builder
	b.WriteString("Context-management activity:")
	row := func(label, text string) { fmt.Fprintf(&b, "\n  %-14s%s", label+":", text) }
	merges := ""
	if s.Merges == 1 {
		merges = ", and 1 merge"
	} else if s.Merges > 1 {
		merges = fmt.Sprintf(", and %d merges", s.Merges)
	}
	row("Compactions", s.Compactions.text(s.Now, merges, "focus"))
	row("Checkpoints", s.Checkpoints.text(s.Now, "", "note"))
	row("Summarized", orZero(s.SummaryChars, func() string { return fmt.Sprintf("%d chars across all boundaries", s.SummaryChars) }))
	row("Subtasks", orZero(s.Subtasks.Count, func() string {
		return fmt.Sprintf("%d (%s tokens, %s rolled up to /stats total)", s.Subtasks.Count, inOut(s.Subtasks.Usage), Money(s.Subtasks.USD, s.Subtasks.Unpriced))
	}))
	if len(s.Models) > 1 {
		b.WriteString("\n" + ModelRows(s.Models))
	}
	return b.String()
}

// ModelRows lists models, the most expensive first, as a block does, without a newline at the end.
func ModelRows(models []Model) string {
	var rows []string
	for i, m := range byCost(models) {
		label := fmt.Sprintf("  %-14s", "Models:")
		if i > 0 {
			label = fmt.Sprintf("%14s+ ", "")
		}
		rows = append(rows, fmt.Sprintf("%s%s (%d turns, %s, %s)", label, line(m.Name), m.Calls, inOut(m.Usage), Money(m.USD, m.Unpriced)))
	}
	return strings.Join(rows, "\n")
}

// byCost returns the models by descending cost. Those without a price come last: what they cost is
// unknown.
func byCost(models []Model) []Model {
	return slices.SortedStableFunc(slices.Values(models), func(a, b Model) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Usage.Total(), a.Usage.Total()), cmp.Compare(a.Name, b.Name))
	})
}

// text has what is besides behind the count.
func (of Boundaries) text(now time.Time, besides, label string) string {
	return orZero(of.Count, func() string {
		age := max(0, now.Sub(of.Last)).Truncate(time.Second)
		text := fmt.Sprintf("%d%s (last %v ago", of.Count, besides, age)
		if said := line(of.Text); said != "" {
			text += ", " + label + ": " + said
		}
		return text + ")"
	})
}

func orZero(n int, text func() string) string {
	if n == 0 {
		return "0"
	}
	return text()
}

func inOut(u tokens.Usage) string {
	return fmt.Sprintf("%d in / %d out", u.PromptTokens, u.OutputTokens)
}

// Money writes an amount. It never shows 0 for what is unknown.
func Money(usd tokens.Nano, unpriced bool) string {
	switch {
	case unpriced && usd == 0:
		return "unpriced"
	case unpriced:
		return usd.String() + " + unpriced"
	}
	return usd.String()
}

// line puts a text on one line and leaves out what a terminal would obey.
func line(text string) string {
	shown := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(shown), " ")
}
