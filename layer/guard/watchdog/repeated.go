package watchdog

import "fmt"

// polls is from how many like results in a row the calls of a polling tool count.
const polls = 20

// repeated finds the same call over and over.
type repeated struct {
	least      int
	callsAlone bool

	call, like   uint64
	calls, alike int
}

// newRepeated returns a signal for n calls in a row of one tool with the same arguments and like
// results. It is critical if the results are known. Fewer than 2 count as 2.
func newRepeated(n int) Signal { return &repeated{least: max(n, 2)} }

// Name returns "repeated-tool-call".
func (*repeated) Name() string { return "repeated-tool-call" }

// Reset forgets all calls.
func (r *repeated) Reset() { r.call, r.like, r.calls, r.alike = 0, 0, 0, 0 }

// Observe counts. Of calls that ran in parallel, those that continue the row come first.
func (r *repeated) Observe(s Step) (found *Alert) {
	calls := s.prepare(nil)
	before := r.call
	for i := range calls {
		if calls[i].call == before {
			found = r.add(&calls[i], found)
		}
	}
	for i := range calls {
		if calls[i].call != before {
			found = r.add(&calls[i], found)
		}
	}
	return found
}

func (r *repeated) add(c *Call, found *Alert) *Alert {
	if c.call != r.call {
		r.call, r.calls = c.call, 0
	}
	if c.like != r.like {
		r.like, r.alike = c.like, 0
	}
	r.calls++
	r.alike++
	least := r.least
	if c.Polling {
		least = max(least, polls)
	}
	switch {
	case r.alike >= least:
		a := &Alert{Tool: c.Tool, Pattern: id(c.like), Count: r.alike}
		again := fmt.Sprintf("%s %d times in a row with the same arguments and the same result.", shown(c.Tool), r.alike)
		a.Text = "called " + again
		a.Note = "[You called " + again + " Calling it again will not change that." + advice
		if c.Result.Known {
			a.Severity = Critical
		}
		return a
	case r.callsAlone && r.calls >= least && !c.Polling:
		return &Alert{Tool: c.Tool, Pattern: id(c.call), Count: r.calls, Text: fmt.Sprintf("called %s %d times in a row with the same arguments, and not always the same result.", shown(c.Tool), r.calls)}
	}
	return found
}
