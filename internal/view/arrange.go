package view

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// arrange puts the visible events and summaries into the order of the view.
func (l *layout) arrange() {
	front := l.sortSummaries()
	l.findRemoteWords(front)
	p := l.projection
	p.identity = p.working.at == nil && len(l.standIns) == 0 && !slices.Contains(l.hidden, true)
	if p.identity {
		p.view = p.raw
		return
	}
	p.view = nil
	l.nameFront(front)
	for _, s := range front {
		for _, i := range l.aheadOf[s] {
			p.view = append(p.view, l.events[i])
		}
		p.view = append(p.view, s.event())
	}
	for i := range l.events {
		if l.hidden[i] {
			continue
		}
		l.show(i)
		if i >= l.end {
			l.showDue()
		}
	}
	l.showDue()
}

// nameFront chooses the author of each summary in front. Behind an anchor, it is the agent, because ADK begins some
// prompts at the last event by another author. In front it is the user, because some other author's event follows. But
// ADK v2 runs agents in isolation scopes into which nobody else writes. The last of the summaries would be the first
// event of such a prompt, so they have the author of the scope. It stays "" as long as the scope has no other event.
func (l *layout) nameFront(front []*summary) {
	authors := map[string]string{} // by scope, the user for several
	for _, s := range front {
		if _, scope := adk.SplitLane(s.meta.Branch); scope != "" {
			authors[scope] = ""
		}
	}
	if len(authors) > 0 {
		for i, ev := range l.events {
			if l.hidden[i] {
				continue
			}
			scope := record.Normalize(adk.ScopeOf(ev))
			switch by, known := authors[scope]; {
			case !known:
			case by == "" && ev.Author != "":
				authors[scope] = ev.Author
			case by == "" || by != ev.Author:
				authors[scope] = "user"
			}
		}
	}
	for _, s := range front {
		_, scope := adk.SplitLane(s.meta.Branch)
		s.by = authors[scope]
	}
}

// show adds event i and its stand-in to the view.
func (l *layout) show(i int) {
	p := l.projection
	if !l.isAhead[i] { // else only the summaries behind i are shown here
		p.view = append(p.view, l.events[i])
	}
	if made := l.standIns[i]; made != nil {
		p.view = append(p.view, made)
	}
	if found := l.behind[i]; len(found) > 0 {
		l.due = append(l.due, found...)
		l.end = max(l.end, l.lastAdjacent(i))
	}
}

// showDue shows the summaries that are due.
func (l *layout) showDue() {
	for _, s := range l.due {
		l.projection.view = append(l.projection.view, s.event())
	}
	l.due = nil
}

// invisible reports whether an event is never part of a view.
func invisible(ev *session.Event) bool { return ev == nil || record.Is(ev) || adk.IsCompaction(ev) }

// sortSummaries puts the current summaries into the order of the view. It returns those in front, and
// sets those that are shown behind an anchor.
func (l *layout) sortSummaries() (front []*summary) {
	sorted := slices.Clone(l.current)
	slices.SortFunc(sorted, byStart)
	l.addLedgers(sorted)
	for _, s := range sorted {
		if s.anchor < 0 {
			front = append(front, s)
		} else {
			put(&l.behind, s.anchor, append(l.behind[s.anchor], s))
		}
	}
	return front
}

// lastAdjacent returns the last event of the unit of i that is shown next to i, with no event of
// another unit in between.
func (l *layout) lastAdjacent(i int) int {
	members := l.units.Of(i)
	last := i
	for j := i + 1; j < len(l.events); j++ {
		if l.hidden[j] {
			continue
		}
		if _, member := slices.BinarySearch(members, j); !member {
			break
		}
		last = j
	}
	return last
}
