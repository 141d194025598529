package audit

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// checkRaw: what must stay as it was said is shown so. What an app pins on its own account is not known here,
// and of running turns only the newest can be told from finished ones. That the newest agent event is shown
// is checked with the view.
func (e *examination) checkRaw() {
	shown := map[*session.Event]bool{}
	for _, ev := range e.view {
		shown[ev] = true
	}
	must := func(ev *session.Event, what string) {
		if ev != nil && !shown[ev] {
			e.find(e.seq[ev], ev.ID, RuleRaw, "%s is hidden behind a summary", what)
		}
	}
	must(e.opening(), "the message that opened the running turn")
	remote := e.remote()
	for _, author := range slices.Sorted(maps.Keys(remote)) {
		must(remote[author], "the newest event of a remote agent, by which its context is found,")
	}
	units := adk.GroupUnits(e.events)
	newer := newerWaiting(units)
	units.Each(func(members []int) {
		if !units.Open(members[0]) || newer[members[0]] >= selector.MaxWaiting {
			return
		}
		for _, i := range members {
			must(e.events[i], "a call that waits for its answer, or what belongs to it,")
		}
	})
}

// opening returns the first message of the newest turn if nothing has answered it, else nil.
func (e *examination) opening() *session.Event {
	newest, answered := "", map[string]bool{}
	first, seen := map[string]*session.Event{}, map[string]bool{}
	for _, ev := range e.events {
		if !speaks(ev) || ev.InvocationID == "" {
			continue
		}
		if id := ev.InvocationID; !seen[id] {
			seen[id], newest = true, id
		}
		if adk.Classify(ev).Is(adk.ByUser) && first[ev.InvocationID] == nil {
			first[ev.InvocationID] = ev
		}
		if adk.Classify(ev).Is(adk.EndsTurn) {
			answered[ev.InvocationID] = true
		}
	}
	if answered[newest] {
		return nil
	}
	return first[newest]
}

// remote returns the newest event of each author that comes from a remote agent.
func (e *examination) remote() map[string]*session.Event {
	newest := map[string]*session.Event{}
	for _, ev := range e.events {
		if !record.Is(ev) && adk.Classify(ev).Is(adk.Remote) {
			newest[ev.Author] = ev
		}
	}
	return newest
}

// newerWaiting returns for each unit, by its first event, how many units that wait or waited for somebody
// began after it.
func newerWaiting(units *adk.Units) map[int]int {
	newer, n := map[int]int{}, 0
	var firsts []int
	units.Each(func(members []int) { firsts = append(firsts, members[0]) })
	for _, i := range slices.Backward(firsts) {
		newer[i] = n
		if units.Patient(i) {
			n++
		}
	}
	return newer
}

// speaks reports whether an event says anything, as opposed to changing state or keeping books.
func speaks(ev *session.Event) bool {
	return !record.Is(ev) && adk.Classify(ev).Is(adk.Speaks)
}
