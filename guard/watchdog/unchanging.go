package watchdog

import "fmt"

// How many of how many calls are worth a warning although others are in between.
const (
	shortWindow = 8 // calls
	often       = 5 // of them
	spread      = 4 // of them, if the first is as far from the last as in a, x, a, x, a, x, a
)

// unchanging finds results that stay the same.
type unchanging struct {
	least int

	last  [lookBack]seen // the newest at position count-1
	count int
}

// seen is what is kept of a call.
type seen struct {
	like, answer uint64
	polling      bool
}

// Unchanging returns a signal for results that stay the same, with other calls in between:
//
//   - n of the last 12 calls are one call with one result. This is critical.
//   - 5 of the last 8, or every second of the last 7, are one call with one result.
//   - n of the last 12 are calls of one tool, with changing arguments, and have one result.
//
// The last two are warnings, and results that only acknowledge a call do not count for them: each write of a
// sweep has one, and a check between two edits each time that it passes. n is from 2 to 12. In 10 recorded
// sessions of coding agents, no call is found twice with one result within 12 calls.
func Unchanging(n int) Signal { return &unchanging{least: min(max(n, 2), lookBack)} }

// Name returns "unchanging".
func (*unchanging) Name() string { return "unchanging" }

// Reset forgets all calls.
func (u *unchanging) Reset() { *u = unchanging{least: u.least} }

// Observe compares the calls of a step with the last ones. Calls without a known result and those that poll do
// not count, and a pause between those that poll is no pattern.
func (u *unchanging) Observe(s Step) (found *Alert) {
	calls := s.prepare(nil)
	for i := range calls {
		c := &calls[i]
		now := seen{like: c.like, answer: c.answer}
		if !c.Result.Known || c.Polling {
			now = seen{polling: c.Polling}
		}
		if c.Result.Acknowledges {
			now.answer = 0
		}
		u.last[u.count%lookBack] = now
		u.count++
	}
	for i := range calls {
		c := &calls[i]
		if !c.Result.Known || c.Polling {
			continue
		}
		if a := u.alert(c); a != nil && (found == nil || a.Severity > found.Severity) {
			found = a
		}
	}
	return found
}

func (u *unchanging) alert(c *Call) *Alert {
	var same, lately, sameAnswer int
	apart, furthest, otherArgs, between, polling := 0, 0, false, false, false
	for back := range min(u.count, lookBack) {
		one := u.last[(u.count-1-back)%lookBack]
		polling = polling || one.polling
		switch {
		case one.like == c.like:
			if same++; back < shortWindow {
				lately++
				furthest = back
			}
			between = between || apart < back
			apart = back + 1
		case one.answer != 0 && one.answer == c.answer:
			otherArgs = true
		}
		if one.answer != 0 && one.answer == c.answer {
			sameAnswer++
		}
	}
	switch weak := between && !polling && !c.Result.Acknowledges; {
	case same >= u.least:
		return u.unchanged(c, Critical, same, lookBack)
	case weak && (lately >= often || lately >= spread && furthest >= shortWindow-2):
		return u.unchanged(c, Warning, lately, shortWindow)
	case otherArgs && sameAnswer >= u.least:
		again := fmt.Sprintf("%s %d times within %d calls with different arguments, and the result was the same.", shown(c.Tool), sameAnswer, lookBack)
		return &Alert{
			Tool: c.Tool, Pattern: id(c.answer), Count: sameAnswer, Text: "called " + again,
			Note: "[You called " + again + " Other words will not change that." + advice,
		}
	}
	return nil
}

func (u *unchanging) unchanged(c *Call, severity Severity, count, within int) *Alert {
	again := fmt.Sprintf("%s %d times within %d calls with the same arguments and the same result.", shown(c.Tool), count, within)
	return &Alert{
		Tool: c.Tool, Pattern: id(c.like), Severity: severity, Count: count, Text: "called " + again,
		Note: "[You called " + again + " Calling it again will not change that." + advice,
	}
}
