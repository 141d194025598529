package replaycmd

import (
	"fmt"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// counted collects the sources of the prompt sizes. The zero value has seen no report.
type counted struct {
	reports, calls, recorded int
	low, high                float64 // of the ratios of reports with recorded counts
	fixed                    int     // the most tokens that a prompt had in addition to the messages
	leftOut                  int     // reports without those tokens
}

func (c *counted) add(r *replay.Report) {
	c.reports++
	c.calls += r.Without.ModelCalls
	c.recorded += r.Counts.Recorded
	if r.Counts.Recorded > 0 {
		if c.low == 0 || r.Counts.Ratio < c.low {
			c.low = r.Counts.Ratio
		}
		c.high = max(c.high, r.Counts.Ratio)
	}
	if r.Counts.Left {
		c.leftOut++
	} else {
		c.fixed = max(c.fixed, r.Counts.Fixed)
	}
}

// text is empty if no report was seen.
func (c *counted) text(s terminal.Screen) string {
	if c.reports == 0 {
		return ""
	}
	text := "all prompt sizes are estimates"
	if c.recorded > 0 {
		text = fmt.Sprintf("the provider counted %s of %s prompts without compaction, the others are estimates; one estimated token is %s of the provider's",
			terminal.Commas(c.recorded), terminal.Commas(c.calls), ratios(c.low, c.high))
	}
	if c.fixed > 0 {
		text += fmt.Sprintf(", with up to %s tokens of instructions and tools in each", terminal.Commas(c.fixed))
	}
	if c.leftOut > 0 {
		text += fmt.Sprintf("; without the recorded instructions and tools in %s, where they took more than half of the window (--fixed)", terminal.Plural(c.leftOut, "report"))
	}
	return s.Labelled("counted", text)
}

func ratios(low, high float64) string {
	if text := fmt.Sprintf("%.2f", low); text == fmt.Sprintf("%.2f", high) {
		return text
	}
	return fmt.Sprintf("%.2f to %.2f", low, high)
}
