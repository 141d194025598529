package view_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// long returns a history of about n events, of which all but the newest are covered by records that
// were merged as a service merges them, at most five of them current. Records are as they come back from a
// database.
func long(tb testing.TB, n, records int) []*session.Event {
	tb.Helper()
	h := h()
	perRecord := n / records
	var current []*record.Metadata
	store := func(m *record.Metadata) {
		ev := histories.RecordEvent(m, h.Last().Timestamp)
		data, err := json.Marshal(ev.CustomMetadata)
		if err != nil {
			tb.Fatal(err)
		}
		ev.CustomMetadata = nil
		if err := json.Unmarshal(data, &ev.CustomMetadata); err != nil {
			tb.Fatal(err)
		}
		h.Events = append(h.Events, ev)
		current = append(current, m)
	}
	for r := range records {
		m := &record.Metadata{RecordID: fmt.Sprint("r", r), Kind: record.KindSummary, CreatedAt: at(len(h.Events))}
		if err := m.SetText("What was said, in about as many words as a summary has."); err != nil {
			tb.Fatal(err)
		}
		if r%2 == 1 && len(current) > 4 { // every other record is a merge
			for _, part := range current[:2] {
				m.Absorbed = append(m.Absorbed, part.RecordID)
				m.Level = max(m.Level, part.Level+1)
			}
			m.StartTimestamp, m.EndTimestamp = current[0].StartTimestamp, current[1].EndTimestamp
			rest := current[2:]
			current = nil
			store(m)
			current = append(current, rest...)
			continue
		}
		first := len(h.Events)
		for i := 0; i < 2*perRecord; i += 4 {
			inv, call := fmt.Sprint("i", len(h.Events)), fmt.Sprint("c", len(h.Events))
			h.User(inv, "a question").Call(inv, "bot", "tool", call).Response(inv, "bot", "tool", "result", call).Agent(inv, "bot", "an answer")
		}
		for _, ev := range h.Events[first:] {
			m.Covered = append(m.Covered, record.RefTo(ev))
		}
		m.StartTimestamp, m.EndTimestamp = h.Events[first].Timestamp, h.Last().Timestamp
		store(m)
	}
	return h.Turns(5, "bot").Events
}

func BenchmarkProject(b *testing.B) {
	for _, size := range []struct{ events, records int }{{10_000, 200}, {100_000, 2_000}} {
		b.Run(fmt.Sprintf("%d_%d", size.events, size.records), func(b *testing.B) {
			events := long(b, size.events, size.records)
			b.ReportAllocs()
			for b.Loop() {
				view.Project(events)
			}
			b.ReportMetric(float64(len(view.Project(events))), "shown")
			b.ReportMetric(float64(len(events)), "stored")
		})
	}
}

func BenchmarkEventsNothingNew(b *testing.B) {
	events := long(b, 10_000, 200)
	v := view.New(events)
	b.ReportAllocs()
	for b.Loop() {
		v.Events()
	}
}

func BenchmarkViewAppend(b *testing.B) {
	v := view.New(long(b, 10_000, 200))
	events := make([]*session.Event, b.N)
	for i := range events {
		events[i] = &session.Event{ID: fmt.Sprint("new-", b.N, "-", i), Author: "bot", Timestamp: time.Now()}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, ev := range events {
		v.Append(ev)
		v.Events()
	}
}

// tooled returns n turns with tools, 10 events each.
func tooled(n int) []*session.Event {
	h := &ct.History{}
	for i := range n {
		inv := fmt.Sprint("i", i)
		h.User(inv, "a question")
		for k := range 4 {
			id := fmt.Sprint(inv, "-", k)
			h.Call(inv, "bot", "tool", id).Response(inv, "bot", "tool", "result", id)
		}
		h.Agent(inv, "bot", "an answer")
	}
	return h.Events
}

// BenchmarkProjectYoung projects a session in which nothing was summarized.
func BenchmarkProjectYoung(b *testing.B) {
	events := tooled(1_000)
	b.ReportAllocs()
	for b.Loop() {
		view.Project(events)
	}
}

// BenchmarkViewTurn appends turns with tools, one event after the other, and asks for the view each time.
func BenchmarkViewTurn(b *testing.B) {
	events := tooled(1_000)
	b.ReportAllocs()
	for b.Loop() {
		v := view.New(nil)
		for _, ev := range events {
			v.Append(ev)
			v.Events()
		}
	}
}

// BenchmarkViewRecord adds a record over the oldest visible turn, and a turn, to a view of 100,000
// stored events.
func BenchmarkViewRecord(b *testing.B) {
	v := view.New(long(b, 100_000, 2_000))
	events := make([][]*session.Event, b.N)
	for i := range events {
		turn := (&ct.History{}).Turns(1, "bot").Events
		for k, ev := range turn {
			ev.ID = fmt.Sprint("new-", i, "-", k)
		}
		h := &ct.History{Events: turn}
		events[i] = append(turn, h.Record(fmt.Sprint("record-", i), ct.IDs(turn)...))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i, turn := range events {
		m, _ := record.From(turn[2])
		if i > 0 { // a rolling summary
			m.Absorbed = []string{fmt.Sprint("record-", i-1)}
		}
		record.Set(turn[2], m)
		for _, ev := range turn {
			v.Append(ev)
		}
	}
}
