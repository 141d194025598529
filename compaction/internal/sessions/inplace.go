package sessions

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// places keeps the events that a handle shows at their positions while a node of a workflow runs. An agent that runs for
// one turn gets its task as an event that is not stored: ADK puts it at the position at which the session ended when the
// agent began, in whatever the session shows later (newWrappedSession in agent/llmagent/llm_agent_wrapper.go), and begins
// the prompt there. So an event that a compaction hides in the middle of the run leaves its place to the summary, or to
// an event without content. A summary of rounds waits for such a place, because in front of it, it would move what the
// agent has seen before behind its task.
//
//	0 user         0 user         0 user
//	1 bot          1 summary      1 summary
//	2 bot          2 bot, empty   2 the call      without places
//	3 the task     3 the task     3 the task
//	4 the call     4 the call     4 the response  a response without its call ends the run
//	5 its response 5 its response
type places struct {
	mu sync.Mutex
	// of is the newest snapshot of the view, shown is what was shown of it.
	of, shown *view.Snapshot
}

// show returns what to show of the newest snapshot.
func (p *places) show(events *view.Snapshot) *view.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == events {
		return p.shown
	}
	shown := events
	if p.shown != nil && inNode(events) {
		shown = p.place(events)
	}
	p.of, p.shown = events, shown
	return shown
}

// inNode reports whether the newest event comes from a node below the root.
func inNode(events *view.Snapshot) bool {
	if events.Len() == 0 {
		return false
	}
	path, _ := adk.NodeOf(events.At(events.Len() - 1))
	return strings.ContainsAny(path, "/@")
}

// place returns the snapshot with its events where they were shown before.
func (p *places) place(events *view.Snapshot) *view.Snapshot {
	before := p.shown.Slice()
	at := make(map[string]int, len(before))
	for i, ev := range before {
		at[ev.ID] = i
	}
	ofRounds := map[string]bool{}
	for _, m := range events.Current() {
		ofRounds[m.RecordID] = m.MidTurn()
	}
	out := make([]*session.Event, 0, max(len(before), events.Len()))
	var waiting []*session.Event // summaries of rounds that have no place yet
	for ev := range events.All() {
		i, known := at[ev.ID]
		switch {
		case ofRounds[ev.ID]:
			waiting = append(waiting, ev)
			continue
		case known && ev.ID != "":
			for len(out) < i {
				if len(waiting) > 0 && len(adk.ResponseIDs(ev)) == 0 { // nothing comes between a call and its response
					out, waiting = append(out, waiting[0]), waiting[1:]
				} else {
					out = append(out, emptied(before[len(out)]))
				}
			}
		default:
			out, waiting = append(out, waiting...), nil
		}
		out = append(out, ev)
	}
	out = append(out, waiting...)
	if slices.Equal(out, events.Slice()) {
		return events
	}
	return events.With(out)
}

// emptied returns an event without content in the place of another.
func emptied(ev *session.Event) *session.Event {
	if ev.Content == nil {
		return ev
	}
	empty := &session.Event{ID: ev.ID, InvocationID: ev.InvocationID, Timestamp: ev.Timestamp, Author: ev.Author}
	adk.SetLane(empty, adk.Lane(ev))
	return empty
}
