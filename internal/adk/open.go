package adk

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"
)

// OpenCalls returns the positions of the events with calls that have no answer and that no later message among the events
// has overtaken. An answer belongs to the nearest call with its ID before it, first in its own branch and then in any.
func OpenCalls(events []*session.Event) []int {
	near := map[CallKey]int{} // the last call of a branch and ID
	last := map[string]int{}  // the last call of an ID
	open := map[int]map[string]bool{}
	answer := func(i int, id string) {
		if delete(open[i], id); len(open[i]) == 0 {
			delete(open, i)
		}
	}
	for i, ev := range events {
		for _, id := range ResponseIDs(ev) {
			if at, ok := near[CallKey{Lane(ev), id}]; ok {
				answer(at, id)
			} else if at, ok := last[id]; ok {
				answer(at, id)
			}
		}
		for _, id := range CallIDs(ev) {
			near[CallKey{Lane(ev), id}], last[id] = i, i
			if open[i] == nil {
				open[i] = map[string]bool{}
			}
			open[i][id] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(open)), func(i int) bool {
		return slices.ContainsFunc(events[i+1:], func(ev *session.Event) bool { return Classify(ev).Is(Message) && Overtakes(ev, events[i]) })
	})
}
