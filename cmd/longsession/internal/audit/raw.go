package audit

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// checkRaw checks that events which must stay raw are shown raw:
//
//   - The message that opened the turn that still runs. If the user asks in event 1 and tools work in
//     the events 2 to 90, a summary may cover 2 to 80, but the model must read the question itself.
//   - The newest event of each remote agent. ADK finds the remote conversation by its metadata.
//   - Calls that wait for a person or a long-running tool, with their whole unit: the answer may come
//     in days and must find its call. Only the newest [selector.MaxWaiting] of them count.
//
// It does not know the events that an app pins, and it can tell only the newest running turn from
// finished ones. checkView checks the newest agent event.
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
		must(remote[author], "the newest event of a remote agent, which is needed to find its context,")
	}
	units := adk.GroupUnits(e.events)
	newer := 0 // units that waited for a person or a long-running tool, and begin later
	units.Each(func(members []int) {
		if units.Patient(members[0]) {
			newer++
		}
	})
	units.Each(func(members []int) {
		if units.Patient(members[0]) {
			newer--
		}
		if !units.Open(members[0]) || newer >= selector.MaxWaiting {
			return
		}
		for _, i := range members {
			must(e.events[i], "a call that waits for its answer, or another event of its unit,")
		}
	})
}

// opening returns the first message of the newest turn, or nil if that was answered. A turn is an
// invocation, and the newest is the one that began last. For example, if invocation i1 has a message
// and an answer, and i2 a message and a call, the message of i2 opens the running turn.
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
		class := adk.Classify(ev)
		if class.Is(adk.ByUser) && first[ev.InvocationID] == nil {
			first[ev.InvocationID] = ev
		}
		if class.Is(adk.EndsTurn) {
			answered[ev.InvocationID] = true
		}
	}
	if answered[newest] {
		return nil
	}
	return first[newest]
}

// remote returns the newest event of each remote agent, by author.
func (e *examination) remote() map[string]*session.Event {
	newest := map[string]*session.Event{}
	for _, ev := range e.events {
		if !record.Is(ev) && adk.Classify(ev).Is(adk.Remote) {
			newest[ev.Author] = ev
		}
	}
	return newest
}

// speaks reports whether an event is a part of the conversation, and not only a change of state or
// a record.
func speaks(ev *session.Event) bool {
	return !record.Is(ev) && adk.Classify(ev).Is(adk.Speaks)
}
