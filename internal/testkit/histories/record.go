package histories

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// RecordOver returns a record event that covers the events with the given IDs.
func RecordOver(events []*session.Event, id string, covered []string) *session.Event {
	m := &record.Metadata{RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerManual, CreatedAt: Epoch}
	var at time.Time
	newest := map[string]*session.Event{} // by lane
	var facts []string
	for _, ev := range events {
		if ev == nil {
			continue
		}
		at, m.CreatedAt = ev.Timestamp, later(m.CreatedAt, ev.Timestamp.Add(time.Millisecond))
		if record.Is(ev) {
			continue
		}
		newest[adk.Lane(ev)] = ev
		if !slices.Contains(covered, ev.ID) {
			continue
		}
		widen(m, adk.Lane(ev), ev.Timestamp, ev.InvocationID, ev.Timestamp, ev.InvocationID)
		m.Covered = append(m.Covered, record.RefTo(ev))
		m.EventCount++
		facts = append(facts, FactsIn(ev)...)
	}
	if ev := newest[m.Branch]; ev != nil {
		m.Through = record.RefTo(ev)
	}
	SetText(m, "Facts: "+strings.Join(facts, " "))
	return RecordEvent(m, at)
}

// Absorb returns a record event that absorbs other records and covers no events. It ignores events
// that are not readable records.
func Absorb(id string, records ...*session.Event) *session.Event {
	m := &record.Metadata{RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerMerge}
	var at time.Time
	var texts []string
	for _, ev := range records {
		part, err := record.From(ev)
		if err != nil || part == nil {
			continue
		}
		widen(m, part.Branch, part.StartTimestamp, part.StartInvocationID, part.EndTimestamp, part.EndInvocationID)
		m.Absorbed = append(m.Absorbed, part.RecordID)
		m.EventCount += part.EventCount
		m.Level = max(m.Level, part.Level+1)
		m.Through = part.Through
		m.CreatedAt = later(m.CreatedAt, part.CreatedAt.Add(time.Millisecond))
		at = later(at, ev.Timestamp)
		text, _ := part.Text()
		texts = append(texts, text)
	}
	SetText(m, strings.Join(texts, " "))
	return RecordEvent(m, at)
}

// Amend returns a copy of a record event with a changed record. An event that is not a readable
// record is returned unchanged.
func Amend(ev *session.Event, change func(m *record.Metadata)) *session.Event {
	m, err := record.From(ev)
	if err != nil || m == nil {
		return ev
	}
	change(m)
	amended := RecordEvent(m, ev.Timestamp)
	amended.ID, amended.InvocationID = ev.ID, ev.InvocationID
	return amended
}

// widen extends m's span to include another one. The first span decides the lane.
func widen(m *record.Metadata, lane string, start time.Time, startInvocation string, end time.Time, endInvocation string) {
	first := len(m.Covered) == 0 && len(m.Absorbed) == 0
	if first {
		m.Branch = lane
	}
	if first || start.Before(m.StartTimestamp) {
		m.StartTimestamp, m.StartInvocationID = start, startInvocation
	}
	if first || !end.Before(m.EndTimestamp) {
		m.EndTimestamp, m.EndInvocationID = end, endInvocation
	}
}

// SetText sets the text of a record, without space around it.
func SetText(m *record.Metadata, text string) {
	if err := m.SetText(strings.TrimSpace(text)); err != nil {
		panic(fmt.Sprintf("histories: %v", err)) // a string always encodes
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// RecordEvent returns the event that the service would write to store m.
func RecordEvent(m *record.Metadata, at time.Time) *session.Event {
	ev := &session.Event{
		ID: "event-of-" + m.RecordID, InvocationID: "e-" + m.RecordID, Author: "user", Timestamp: at,
	}
	adk.SetLane(ev, m.Branch)
	record.Set(ev, m)
	return ev
}
