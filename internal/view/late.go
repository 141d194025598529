package view

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// lateness says which events are shown elsewhere than the backend has them.
type lateness struct {
	moved  bitset
	before map[int][]int // by position of the late response: what is shown directly before it
}

// lateAnswers finds the units whose latest response lies in a later invocation than their call.
func lateAnswers(raw []*session.Event, units *adk.Units) lateness {
	late := lateness{before: map[int][]int{}}
	units.Each(func(members []int) {
		if !spansInvocations(raw, members) {
			return
		}
		last := lateResponse(raw, members)
		for _, i := range members {
			if i < last {
				late.moved.add(i)
				late.before[last] = append(late.before[last], i)
			}
		}
	})
	return late
}

// lateResponse returns the position of the unit's latest response if a call stands before it in
// another invocation, else -1.
func lateResponse(raw []*session.Event, members []int) int {
	last := -1
	for _, i := range members {
		if adk.Classify(raw[i]).Is(adk.Responds) {
			last = i
		}
	}
	for _, i := range members {
		if i < last && adk.Classify(raw[i]).Is(adk.Calls) && raw[i].InvocationID != raw[last].InvocationID {
			return last
		}
	}
	return -1
}

func spansInvocations(raw []*session.Event, members []int) bool {
	for _, i := range members[1:] {
		if raw[i].InvocationID != raw[members[0]].InvocationID {
			return true
		}
	}
	return false
}

// tangledCalls returns the IDs of the calls whose next response may change what is shown already: of
// units that span invocations, which move behind it, of units that a summary stands behind, and of
// calls that a stand-in answers.
func (p *projection) tangledCalls(units *adk.Units, behind map[int32][]*summary) map[string]bool {
	raw := p.raw
	var tangled map[string]bool
	add := func(members []int) {
		for _, i := range members {
			for _, call := range adk.FunctionCalls(raw[i]) {
				if tangled == nil {
					tangled = map[string]bool{}
				}
				tangled[call.ID] = true
			}
		}
	}
	units.Each(func(members []int) {
		if spansInvocations(raw, members) {
			add(members)
		}
	})
	for i := range behind {
		add(units.Of(int(i)))
	}
	for i := range p.standIns {
		add([]int{i})
	}
	return tangled
}
