package watchdog

import (
	"fmt"
	"strconv"
)

// Answers in a row that make a cycle. A shorter lap needs no more than its own length of them.
const (
	inCycle     = 4 // whose calls were made in enough laps
	nearlyThere = 4 // whose calls were made in one lap less, if the lap is no longer
)

// cycle finds the same calls again and again.
type cycle struct {
	laps   int
	memory memory

	complete, nearly run
	began            int // the step of the newest answer with something new
}

// run is how many answers in a row were made often enough before.
type run struct {
	answers, lap int // lap is the greatest distance of two calls that are alike, in answers
	unknown      bool
}

// goOn counts an answer, or ends the run.
func (r *run) goOn(often bool, lap int, known bool) {
	if !often {
		*r = run{}
		return
	}
	*r = run{r.answers + 1, max(r.lap, lap), r.unknown || !known}
}

// newCycle returns a signal for calls that come again and again with the same results, in this many laps, whatever their
// order and however they are spread over answers. All calls of the last answers, four or as many as a lap has, were
// made in all laps before. It is critical if the results are known. One lap before, it is a warning once a lap of four
// answers or more is complete. A lap has at most 64 calls divided by the laps. One call alone is no cycle: see
// newRepeated. Fewer than 2 laps count as 2.
func newCycle(laps int) Signal { return &cycle{laps: max(laps, 2)} }

// Name returns "cycle".
func (*cycle) Name() string { return "cycle" }

// Reset forgets all answers.
func (c *cycle) Reset() { *c = cycle{laps: c.laps} }

// Observe compares the calls of the answer with the last ones.
func (c *cycle) Observe(s Step) *Alert {
	calls := s.prepare(nil)
	if len(calls) == 0 {
		return nil
	}
	c.memory.step()
	least, lap, known, polling := remembered, 0, true, false
	for i := range calls {
		b := c.memory.of(&calls[i])
		least, lap = min(least, b.alike), max(lap, b.steps)
		known, polling = known && calls[i].Result.Known, polling || b.polling || calls[i].Polling
	}
	for i := range calls {
		c.memory.add(&calls[i])
	}
	if least == 0 {
		c.began = c.memory.steps
	}
	laps := c.laps
	if polling {
		laps = max(laps, polls)
	}
	c.complete.goOn(least >= laps-1, lap, known)
	c.nearly.goOn(laps > 2 && least >= laps-2, lap, known)
	return c.alert(least + 1)
}

func (c *cycle) alert(laps int) *Alert {
	lap := c.complete.lap
	critical := c.complete.answers > 0 && c.complete.answers >= min(inCycle, lap)
	if !critical {
		if lap = c.nearly.lap; c.nearly.answers < max(nearlyThere, lap) {
			return nil
		}
	}
	calls, tools, tool := c.memory.lap(min(lap, max(c.complete.answers, c.nearly.answers)))
	if calls < 2 {
		return nil // it is repeated
	}
	again := fmt.Sprintf("the same %d calls (%s) %d times in a row with the same arguments and the same results.", calls, tools, laps)
	a := &Alert{
		calls: true, Tool: tool, Pattern: strconv.Itoa(c.began), Count: laps, Text: "made " + again,
		Note: "[You made " + again + " Doing so again will not change that." + advice,
	}
	if critical && !c.complete.unknown {
		a.Severity = Critical
	}
	return a
}
