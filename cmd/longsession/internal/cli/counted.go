package cli

import (
	"fmt"

	"github.com/adk-go-ext/longsession/replay"
)

// counted says where the sizes of all prompts came from. The zero value is that of no report.
type counted struct {
	reports, calls, recorded int
	low, high                float64 // of the ratios of reports with recorded counts
	fixed                    int     // the most that a prompt was said to have beside the messages
	leftOut                  int     // reports without it
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

// text is empty for no report.
func (c *counted) text(s screen) string {
	if c.reports == 0 {
		return ""
	}
	text := "every prompt is an estimate"
	if c.recorded > 0 {
		text = fmt.Sprintf("%s of %s prompts without compaction by the provider, the others estimated; one estimated token is %s of the provider's",
			commas(c.recorded), commas(c.calls), ratios(c.low, c.high))
	}
	if c.fixed > 0 {
		text += fmt.Sprintf(", with up to %s tokens of instructions and tools in each", commas(c.fixed))
	}
	if c.leftOut > 0 {
		text += fmt.Sprintf("; without the recorded instructions and tools in %s, where they took more than half of the window (--fixed)", plural(c.leftOut, "report"))
	}
	return s.labelled("counted", text)
}

func ratios(low, high float64) string {
	if text := fmt.Sprintf("%.2f", low); text == fmt.Sprintf("%.2f", high) {
		return text
	}
	return fmt.Sprintf("%.2f to %.2f", low, high)
}
