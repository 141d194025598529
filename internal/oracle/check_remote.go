package oracle

import (
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// checkRemote: a summary of later events comes after the words of a remote agent. A mid-turn
// summary is exempt, because it is tied to its anchor, and so are words behind an answer of the user.
func (c *checker) checkRemote() {
	var summaries []*record.Metadata
	for _, ev := range c.view {
		if usersAnswer(ev) {
			return
		}
		if m := c.summaries[ev]; m != nil && !m.MidTurn() {
			summaries = append(summaries, m)
		}
		if !remoteWords(ev) {
			continue
		}
		for _, m := range summaries {
			if endsAfter(m, ev) {
				c.problem(Formed, ev, "summary %s stands in front of %s and tells of later things: ADK never sends them to the remote agent", m.RecordID, ev.ID)
			}
		}
	}
}

// ahead reports whether all events from view[k] to the next summary are words of remote agents, and
// older than the end of that summary's span.
func (c *checker) ahead(k int) bool {
	ev := c.view[k]
	for _, next := range c.view[k:] {
		if m := c.summaries[next]; m != nil {
			return remoteWords(ev) && endsAfter(m, ev)
		}
		if !remoteWords(next) {
			return false
		}
	}
	return false
}

// endsAfter compares at microseconds, the precision that every backend keeps.
func endsAfter(m *record.Metadata, ev *session.Event) bool {
	return m.EndTimestamp.UnixMicro() > ev.Timestamp.UnixMicro()
}

// remoteWords reports whether an event has words of a remote agent, and neither calls nor
// responses.
func remoteWords(ev *session.Event) bool {
	if ev == nil || ev.Author == "user" || ev.Author == "" || len(CallIDs(ev))+len(ResponseIDs(ev)) > 0 {
		return false
	}
	for key := range ev.CustomMetadata {
		if strings.HasPrefix(key, "a2a:") {
			return true
		}
	}
	return false
}

// usersAnswer reports whether an event has a response that the user gave.
func usersAnswer(ev *session.Event) bool {
	return ev != nil && ev.Author == "user" && len(ResponseIDs(ev)) > 0
}
