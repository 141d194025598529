package compactiontest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// recordOver makes a record that covers events by ID.
func recordOver(events []*session.Event, id string, covered []string) *session.Event {
	m := &record.Metadata{RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerManual}
	var facts []string
	for _, ev := range events {
		if !slices.Contains(covered, ev.ID) {
			continue
		}
		if len(m.Covered) == 0 {
			m.Branch, m.StartTimestamp, m.StartInvocationID = ev.Branch, ev.Timestamp, ev.InvocationID
		}
		m.EndTimestamp, m.EndInvocationID = ev.Timestamp, ev.InvocationID
		m.Covered = append(m.Covered, record.RefTo(ev))
		m.EventCount++
		facts = append(facts, FactsIn(ev)...)
	}
	last := events[len(events)-1]
	m.Through = record.RefTo(last)
	m.CreatedAt = last.Timestamp.Add(time.Millisecond)
	if err := m.SetText(strings.TrimSpace("Facts: " + strings.Join(facts, " "))); err != nil {
		panic(fmt.Sprintf("compactiontest: %v", err)) // a string always encodes
	}
	return RecordEvent(m, last.Timestamp)
}

// Absorb returns a record event that absorbs other records and covers nothing.
func Absorb(id string, records ...*session.Event) *session.Event {
	m := &record.Metadata{RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerMerge}
	var at time.Time
	var texts []string
	for i, ev := range records {
		part, err := record.From(ev)
		if err != nil || part == nil {
			continue
		}
		if i == 0 {
			m.Branch, m.StartTimestamp, m.StartInvocationID = part.Branch, part.StartTimestamp, part.StartInvocationID
		}
		m.EndTimestamp, m.EndInvocationID = part.EndTimestamp, part.EndInvocationID
		m.Absorbed = append(m.Absorbed, part.RecordID)
		m.EventCount += part.EventCount
		m.Level = max(m.Level, part.Level+1)
		m.Through = part.Through
		m.CreatedAt = part.CreatedAt.Add(time.Millisecond)
		at = ev.Timestamp
		text, _ := part.Text()
		texts = append(texts, text)
	}
	if err := m.SetText(strings.Join(texts, " ")); err != nil {
		panic(fmt.Sprintf("compactiontest: %v", err))
	}
	return RecordEvent(m, at)
}

// RecordEvent returns the event that stores m, as the service would.
func RecordEvent(m *record.Metadata, at time.Time) *session.Event {
	ev := &session.Event{
		ID: "event-of-" + m.RecordID, InvocationID: "e-" + m.RecordID, Author: "user", Branch: m.Branch, Timestamp: at,
	}
	record.Set(ev, m)
	return ev
}
