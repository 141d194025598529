package watchdog

import (
	"fmt"
	"strings"
)

// maxPeriod is how many answers a cycle has at most.
const maxPeriod = 4

// cycle finds answers in turn.
type cycle struct {
	laps int

	answers [maxPeriod]answer // the last ones, the newest at position count-1
	count   int
	matches [maxPeriod + 1]int // by period: how many answers in a row were as the one a period before
	known   int                // answers in a row whose results are all known
	polling int                // answers since one that polls
}

// answer is an answer with calls.
type answer struct {
	like  uint64 // of all its calls with their results, whatever their order
	calls int
	first string // tool
}

// Cycle returns a signal for the same 2 to 4 answers in turn, with the same calls and results, this many
// laps in a row. An answer with several calls, the same each time, is a cycle, too. It is critical if the
// results are known. Before that, if laps is 3, a cycle of 3 or 4 answers is a warning from its eighth
// answer on; if laps is larger, proportionally later. Fewer than 2 laps count as 2.
func Cycle(laps int) Signal { return &cycle{laps: max(laps, 2)} }

// Name returns "cycle".
func (*cycle) Name() string { return "cycle" }

// Reset forgets all answers.
func (c *cycle) Reset() { *c = cycle{laps: c.laps} }

// Observe compares the answer with the four before it.
func (c *cycle) Observe(s Step) *Alert {
	calls := s.prepare(nil)
	if len(calls) == 0 {
		return nil
	}
	now := answer{like: uint64(len(calls)), calls: len(calls), first: calls[0].Tool}
	several, known := false, true
	c.polling++
	for i := range calls {
		now.like = mix(now.like, calls[i].like)
		several = several || calls[i].call != calls[0].call
		known = known && calls[i].Result.Known
		if calls[i].Polling {
			c.polling = 0
		}
	}
	c.known++
	if !known {
		c.known = 0
	}
	for period := 1; period <= maxPeriod; period++ {
		if c.count >= period && c.answers[(c.count-period)%maxPeriod].like == now.like {
			c.matches[period]++
		} else {
			c.matches[period] = 0
		}
	}
	c.answers[c.count%maxPeriod] = now
	c.count++
	return c.alert(several)
}

// alert returns an alert for the shortest period with enough laps. Equal answers with one call are no cycle:
// they are repeated.
func (c *cycle) alert(several bool) *Alert {
	for period := 1; period <= maxPeriod; period++ {
		answers := c.matches[period] + period
		laps, least := answers/period, c.laps
		if c.polling < period {
			least = max(least, polls)
		}
		if period == 1 && laps > 1 && !several {
			return nil
		}
		if laps < least && (laps < 2 || answers < 8*least/3) {
			continue
		}
		a := &Alert{Count: laps}
		all, sum, sameTool := 0, uint64(0), true
		var tools []string
		for i := period; i > 0; i-- {
			one := c.answers[(c.count-i)%maxPeriod]
			all += one.calls
			sum += one.like // a sum, because a cycle has no beginning
			tools = append(tools, shown(one.first))
			sameTool = sameTool && one.calls == 1 && tools[0] == shown(one.first)
			if sameTool {
				a.Tool = one.first
			}
		}
		if !sameTool {
			a.Tool = ""
		}
		a.Pattern = id(sum)
		again := fmt.Sprintf("the same %d calls (%s) %d times in a row with the same arguments and the same results.", all, list(tools, all), laps)
		a.Text = "made " + again
		a.Note = "[You made " + again + " Doing so again will not change that." + advice
		if laps >= least && c.known >= period*least {
			a.Severity = Critical
		}
		return a
	}
	return nil
}

// list names the tools of a cycle.
func list(tools []string, calls int) string {
	text := strings.Join(tools, ", ")
	if calls > len(tools) {
		text += ", …"
	}
	return text
}
