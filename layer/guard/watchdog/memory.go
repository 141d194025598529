package watchdog

import (
	"slices"
	"strings"
)

// remembered is how many calls a signal looks back at. A lap of 20 calls has three laps in it.
const remembered = 64

// memory has the last calls of a lane.
type memory struct {
	calls [remembered]seen // the newest at position count-1
	count int
	steps int
}

// seen is what is kept of a call.
type seen struct {
	like, answer uint64 // answer is 0 where the result says nothing
	tool         string
	step         int
	polling      bool
}

// before is what a memory knows about a call that comes again.
type before struct {
	alike    int  // calls of the steps before that were like it
	answered bool // one of them had this result, whatever its arguments
	steps    int  // since the newest of those that were alike
	polling  bool // a call between that one and this polls
}

// step begins the next one.
func (m *memory) step() { m.steps++ }

// add keeps a call of the step.
func (m *memory) add(c *Call) {
	now := seen{like: c.like, answer: c.answer, tool: c.Tool, step: m.steps, polling: c.Polling}
	if !c.Result.Known || c.Result.Acknowledges {
		now.answer = 0
	}
	m.calls[m.count%remembered] = now
	m.count++
}

// since returns how many steps there are since one, with it.
func (m *memory) since(step int) int { return m.steps - max(step, 1) + 1 }

// back returns the call that was added so many before the newest.
func (m *memory) back(n int) *seen { return &m.calls[(m.count-1-n)%remembered] }

// of returns what is known about a call of this step.
func (m *memory) of(c *Call) (b before) {
	polling := c.Polling
	for n := range min(m.count, remembered) {
		one := m.back(n)
		if polling = polling || one.polling; one.step == m.steps {
			continue
		}
		if one.like == c.like {
			if b.alike++; b.alike == 1 {
				b.steps, b.polling = m.steps-one.step, polling
			}
		}
		b.answered = b.answered || one.answer != 0 && one.answer == c.answer
	}
	return b
}

// lap returns how many different calls the last answers have, their tools as they are shown, and the tool if it is one.
func (m *memory) lap(answers int) (calls int, tools, tool string) {
	const most = 8
	var alike []uint64
	var names []string
	for n := min(m.count, remembered) - 1; n >= 0; n-- {
		one := m.back(n)
		if one.step <= m.steps-answers || slices.Contains(alike, one.like) {
			continue
		}
		if alike = append(alike, one.like); len(alike) == 1 {
			tool = one.tool
		} else if tool != one.tool {
			tool = ""
		}
		if name := shown(one.tool); len(names) < most && !slices.Contains(names, name) {
			names = append(names, name)
		} else if len(names) == most {
			names = append(names, "…")
		}
	}
	return len(alike), strings.Join(names, ", "), tool
}
