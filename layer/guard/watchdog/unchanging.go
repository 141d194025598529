package watchdog

import (
	"fmt"
	"strconv"
)

// How many of how many calls are worth a warning although others are in between.
const (
	shortWindow = 10 // calls
	often       = 5  // of them
	spread      = 4  // of them, if the first is as far from the last as in a, x, a, x, a, x, a
	far         = 6
)

// unchanging finds results that stay the same.
type unchanging struct {
	least  int
	memory memory
	began  int // the step of the newest answer that says something new
	doubt  int // the step of the newest answer that does, or that has one more thing of a sweep
}

// newUnchanging returns a signal for results that stay the same, whatever else is done:
//
//   - n of the last 12 calls are one call with one result. This is critical.
//   - 5 of the last 10, or 4 that are not close together, are one call with one result.
//   - n answers in a row, the first included, say nothing new: the calls were made before with the same results, or their
//     tools have given the same results before, with any arguments, or they failed, or did nothing. From 2n answers on
//     this is critical, unless the results of new calls have found something: a sweep finds many things to be alike.
//
// All others are warnings, and results that only acknowledge a call do not count for them: each write of a sweep has one,
// and a check between two edits each time that it passes. n is from 2 to 12. In 10 recorded sessions of coding agents,
// no call is found twice with one result within 12 calls.
func newUnchanging(n int) Signal { return &unchanging{least: min(max(n, 2), lookBack)} }

// Name returns "unchanging".
func (*unchanging) Name() string { return "unchanging" }

// Reset forgets all calls.
func (u *unchanging) Reset() { *u = unchanging{least: u.least} }

// Observe compares the calls of a step with the last ones. Calls without a known result and those that poll do
// not count, and a pause between those that poll is no pattern.
func (u *unchanging) Observe(s Step) (found *Alert) {
	calls := s.prepare(nil)
	if len(calls) == 0 {
		return nil
	}
	u.memory.step()
	news := nothing
	for i := range calls {
		news = max(news, u.news(&calls[i]))
	}
	for i := range calls {
		u.memory.add(&calls[i])
	}
	if news >= alike {
		u.doubt = u.memory.steps
	}
	if news == something {
		u.began = u.memory.steps
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
	answers, sure := u.memory.since(u.began), u.memory.since(u.doubt)
	if sure >= 2*u.least || answers >= u.least && found == nil {
		return u.nothingNew(answers, sure >= 2*u.least)
	}
	return found
}

// What a call tells.
const (
	nothing   = iota
	alike     // nothing but that one more thing is like the ones before
	something // new, or it may
)

// news returns what a call tells.
func (u *unchanging) news(c *Call) int {
	switch b := u.memory.of(c); {
	case !c.Result.Known || c.Polling:
		return something
	case c.Result.Error || c.Result.NoOp || b.alike > 0:
		return nothing
	case !b.answered:
		return something
	case c.Result.finds:
		return alike
	}
	return nothing
}

// nothingNew is the alert about answers in a row that say nothing new.
func (u *unchanging) nothingNew(answers int, critical bool) *Alert {
	_, tools, tool := u.memory.lap(answers)
	again := fmt.Sprintf("%s in %d answers in a row, and the results said the same again and again.", tools, answers)
	a := &Alert{
		calls: true, Tool: tool, Pattern: "since " + strconv.Itoa(u.began), Count: answers, Text: "called " + again,
		Note: "[You called " + again + " Other words will not change that." + advice,
	}
	if critical {
		a.Severity = Critical
	}
	return a
}

// alert returns an alert about one call that was made before.
func (u *unchanging) alert(c *Call) *Alert {
	same, lately, furthest := 0, 0, 0
	apart, between, polling := 0, false, false
	for back := range min(u.memory.count, lookBack) {
		one := u.memory.back(back)
		polling = polling || one.polling
		if one.like != c.like {
			continue
		}
		if same++; back < shortWindow {
			lately++
			furthest = back
		}
		between = between || apart < back
		apart = back + 1
	}
	switch weak := between && !polling && !c.Result.Acknowledges; {
	case same >= u.least:
		return u.unchanged(c, Critical, same, lookBack)
	case weak && (lately >= often || lately >= spread && furthest >= far):
		return u.unchanged(c, Warning, lately, shortWindow)
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
