package toolsearch

import (
	"slices"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// An epoch is the time between two summaries. Within it, the set of deferred tools stays the same, so that
// no use of a tool breaks the cached prefix. The set is made again for each request, from nothing but the
// request and the session, so that all processes make the same one: it takes uses into account only if
// they are older than the epoch.
//
//	e1  user:  Open a ticket.
//	e2  agent: calls create_ticket     a use before the epoch, if the view still shows it
//	s   summary written when e4 was the newest event
//	e4  agent: Done.
//	e5  user:  And now merge it.
//	e6  agent: calls merge             a use within the epoch, which counts from the next one on

// usesBefore returns the names of the tools that an agent called before the present epoch of its session,
// as far as the view shows the calls, the least recently used first. It returns nil if the view shows no
// summary to the agent, and for a session that is not compacted.
func usesBefore(s session.Session, agentName, branch string) []string {
	if adk.IsNil(s) {
		return nil
	}
	shown, ok := s.Events().(*filtered.FilteredEvents)
	if !ok {
		return nil
	}
	snapshot := (*view.Snapshot)(shown)
	newest := newestRecord(snapshot.Current(), branch)
	if newest == nil {
		return nil
	}
	begin := newest.Through.Timestamp.Truncate(time.Microsecond)
	var names []string
	for ev := range snapshot.All() {
		// Backends keep microseconds. An event of the same one may be newer.
		if ev == nil || ev.Author != agentName || ev.Content == nil || !ev.Timestamp.Truncate(time.Microsecond).Before(begin) || !adk.Visible(branch, adk.Lane(ev)) {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p != nil && p.FunctionCall != nil {
				names = append(names, p.FunctionCall.Name)
			}
		}
	}
	return lastUses(names)
}

// lastUses keeps the last of equal names.
func lastUses(names []string) []string {
	seen := make(map[string]bool, len(names))
	var last []string
	for _, name := range slices.Backward(names) {
		if !seen[name] {
			seen[name] = true
			last = append(last, name)
		}
	}
	slices.Reverse(last)
	return last
}

// newestRecord returns the newest record whose summary an agent in that branch reads, nil if there is none.
func newestRecord(current []*record.Metadata, branch string) *record.Metadata {
	var newest *record.Metadata
	for _, m := range current {
		if adk.Visible(branch, m.Branch) && (newest == nil || m.Later(newest)) {
			newest = m
		}
	}
	return newest
}
