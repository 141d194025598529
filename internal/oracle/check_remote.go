package oracle

import (
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// checkRemote: what was summarized after a remote agent spoke stands behind its words. A summary of
// tool rounds is bound to its place.
func (c *checker) checkRemote() {
	var summaries []*record.Metadata
	for _, ev := range c.view {
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

// ahead reports whether view[k] and all up to the next summary are words of remote agents that are older
// than the end of what it tells of.
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

// remoteWords reports whether a remote agent said something and called and answered nothing.
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
