package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// percent writes a tenth, and a minus sign at which no line breaks.
func percent(p float64) string {
	if math.Abs(p) < 0.05 {
		p = 0
	}
	return strings.Replace(fmt.Sprintf("%.1f%%", p), "-", "−", 1)
}

// share is part of whole in percent, or "–" if whole is 0.
func share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return percent(100 * float64(part) / float64(whole))
}

// dollars writes an amount with cents, or with hundredths of cents if it is under ten cents.
func dollars(d float64) string {
	switch {
	case d == 0:
		return "$0"
	case math.Abs(d) < 0.1:
		return fmt.Sprintf("$%.4f", d)
	default:
		return "$" + humanize.FormatFloat("#,###.##", d)
	}
}

// tokensOf names the source of the prompt sizes.
func tokensOf(c replay.Counts, calls int) string {
	var b strings.Builder
	if c.Recorded == 0 {
		b.WriteString("All prompt sizes are estimates.")
	} else {
		fmt.Fprintf(&b, "Of the %s without compaction, %s counted by the recording's provider; all other sizes are estimates times %.2f.",
			terminal.Plural(calls, "prompt"), were(c.Recorded), c.Ratio)
	}
	if c.Fixed > 0 {
		verb := "count"
		if c.Left {
			verb = "leave out"
		}
		fmt.Fprintf(&b, " The sizes %s the %s of instructions and tools in every prompt that the recording does not hold.", verb, terminal.Plural(c.Fixed, "token"))
	}
	return b.String()
}

// written is what a model wrote of the summaries, and what they keep: "" if no model was to write any.
func written(s replay.Summaries) string {
	if s.Written+s.WithoutModel+s.Failed == 0 || s.Seconds == 0 && s.Written == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s by the model", terminal.Commas(s.Written), terminal.Commas(s.Written+s.WithoutModel))
	if s.Measured > 0 {
		text += fmt.Sprintf(", %.0f%% of the values kept", 100*s.Kept)
	}
	if s.Invented > 0 {
		text += fmt.Sprintf(", %s invented", terminal.Commas(s.Invented))
	}
	if s.Seconds > 0 {
		text += fmt.Sprintf(", %.1f s", s.Seconds)
	}
	return text
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return terminal.Commas(n) + " were"
}

// overlong describes a prompt over the limit and the reason.
func overlong(o replay.Overlong) string {
	s := fmt.Sprintf("Call %s (turn %s): a prompt of %s, over the limit", terminal.Commas(o.Call+1), terminal.Commas(o.Turn), terminal.Plural(o.Tokens, "token"))
	if o.Event == "" {
		return s
	}
	s += fmt.Sprintf("; the largest part that must stay raw is %s with %s", o.Event, terminal.Plural(o.EventTokens, "token"))
	switch {
	case o.Alone:
		s += ", too long by itself"
	case o.Unavoidable:
		s += fmt.Sprintf(" of %s, too long together", terminal.Commas(o.KeptTokens))
	case o.Unforeseen:
		s += fmt.Sprintf("; the counts so far predicted %s", terminal.Commas(o.Expected))
	}
	return s
}
