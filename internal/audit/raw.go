package audit

import (
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/calls"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// patience is how many later invocations an open call is kept raw for.
const patience = 50

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
	begun := e.begunAfter()
	units := calls.Group(e.events)
	units.Each(func(members []int) {
		if !units.Open(members[0]) || begun[members[0]] > patience {
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
		if ev.Author == "user" && first[ev.InvocationID] == nil {
			first[ev.InvocationID] = ev
		}
		if selector.IsTurnEnd(ev) {
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
		if !record.Is(ev) && selector.Remote(ev) {
			newest[ev.Author] = ev
		}
	}
	return newest
}

// begunAfter returns for each event how many invocations began after it.
func (e *examination) begunAfter() []int {
	upTo, seen := make([]int, len(e.events)), map[string]bool{}
	for i, ev := range e.events {
		if speaks(ev) && ev.InvocationID != "" {
			seen[ev.InvocationID] = true
		}
		upTo[i] = len(seen)
	}
	for i := range upTo {
		upTo[i] = len(seen) - upTo[i]
	}
	return upTo
}

// speaks reports whether an event says anything, as opposed to changing state or keeping books.
func speaks(ev *session.Event) bool {
	return !record.Is(ev) && (ev.Content != nil && len(ev.Content.Parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil)
}
