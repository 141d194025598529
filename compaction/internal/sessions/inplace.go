package sessions

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// places keeps the events that a handle shows at their positions while a node of a workflow runs, or a root that hands over
// to nobody. An agent that runs for one turn gets its task as an event that is not stored: ADK puts it at the position at
// which the session ended when the agent began, in whatever the session shows later (newWrappedSession in
// agent/llmagent/llm_agent_wrapper.go), and begins the prompt there. So an event that a compaction hides in the middle of
// the run leaves its place to the summary, or to an event without content. The summary takes the place of the first of
// them: in front of it, it might move what the agent has seen before behind the task.
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
	if p.shown != nil {
		if node, alone := runner(events); node || alone {
			shown = p.place(events, node)
		}
	}
	p.of, p.shown = events, shown
	return shown
}

// runner reports who runs: a node below the root, or the root alone, without others that it hands over to. An agent for one
// turn that has spoken last answers the next message as a root, and nothing that is stored tells it from others.
func runner(events *view.Snapshot) (node, alone bool) {
	all := events.Slice()
	if len(all) == 0 {
		return false, false
	}
	newest := all[len(all)-1]
	if adk.InWorkflow(newest) {
		return true, false
	}
	for _, ev := range slices.Backward(all) {
		if ev.Author == "user" {
			break
		}
		if ev.Author != newest.Author {
			return false, false
		}
	}
	path, _ := adk.NodeOf(newest)
	return false, path != ""
}

// place returns the snapshot with its events where they were shown before. What is in front of a root's message is part of
// its prompt: without inFront, summaries there stay in their order.
func (p *places) place(events *view.Snapshot, inFront bool) *view.Snapshot {
	before := p.shown.Slice()
	out, all := fill(before, events, slots(before, events, inFront))
	if !all {
		out, _ = fill(before, events, nil)
	}
	if slices.Equal(out, events.Slice()) {
		return events
	}
	return events.With(out)
}

// slot is the place of a summary, with its form there.
type slot struct{ of, shown *session.Event }

// slots returns for each summary the place that it takes, by position: its own, or that of the first event of its lane
// that is hidden now. Tool rounds take the place of the last such event behind their anchor: the others may be in front of
// the task, where a merge or an earlier run of the same agent was. There it has that event's author, because ADK begins
// prompts at the last event by another author.
func slots(before []*session.Event, events *view.Snapshot, inFront bool) map[int]slot {
	now := map[string]*session.Event{}
	for ev := range events.All() {
		now[ev.ID] = ev
	}
	out := map[int]slot{}
	for _, m := range events.Current() {
		s := now[m.RecordID]
		if s == nil || !inFront && !m.MidTurn() {
			continue
		}
		free := func(i int) bool {
			_, taken := out[i]
			return !taken && now[before[i].ID] == nil && before[i].Content != nil && adk.Lane(before[i]) == adk.Lane(s)
		}
		at := slices.IndexFunc(before, func(ev *session.Event) bool { return ev.ID == s.ID })
		switch {
		case at >= 0:
		case m.MidTurn():
			anchor := slices.IndexFunc(before, func(ev *session.Event) bool { return ev.ID == m.After.ID })
			for i := len(before) - 1; i > anchor && at < 0; i-- {
				if free(i) {
					at = i
				}
			}
		default:
			for i := 0; i < len(before) && at < 0; i++ {
				if free(i) {
					at = i
				}
			}
		}
		if at < 0 {
			continue
		}
		shown := s
		if by := before[at].Author; by != s.Author {
			other := *s
			other.Author, shown = by, &other
		}
		out[at] = slot{s, shown}
	}
	return out
}

// fill puts the events where they were shown before, and summaries into their slots. It reports whether each slot is
// filled.
func fill(before []*session.Event, events *view.Snapshot, slots map[int]slot) (out []*session.Event, all bool) {
	moved, end := map[*session.Event]bool{}, 0 // behind the last slot
	for i, s := range slots {
		moved[s.of], end = true, max(end, i+1)
	}
	at, newest := make(map[string]int, len(before)), -1 // the newest event that was shown before
	for i, ev := range before {
		at[ev.ID] = i
	}
	var rest []*session.Event
	for ev := range events.All() {
		if moved[ev] {
			continue
		}
		if _, known := at[ev.ID]; known && ev.ID != "" {
			newest = len(rest)
		}
		rest = append(rest, ev)
	}
	filled := 0
	pad := func(upTo int, responds bool) {
		for len(out) < upTo {
			// Nothing comes between a call and its response.
			if s, ok := slots[len(out)]; ok && !responds {
				out = append(out, s.shown)
				filled++
			} else {
				out = append(out, emptied(before[len(out)]))
			}
		}
	}
	for i, ev := range rest {
		if was, known := at[ev.ID]; known && ev.ID != "" {
			pad(was, len(adk.ResponseIDs(ev)) > 0)
		} else if i > newest {
			pad(end, len(adk.ResponseIDs(ev)) > 0)
		}
		out = append(out, ev)
	}
	pad(end, false)
	return out, filled == len(slots)
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
