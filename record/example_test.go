package record_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Audit a session: which events does each record stand for?
func Example() {
	ctx := context.Background()
	said := session.NewEventWithContext(ctx, "inv1")
	said.Author, said.Timestamp = "user", time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

	m := &record.Metadata{RecordID: "r1", Kind: record.KindSummary, Covered: []record.Ref{record.RefTo(said)}, EventCount: 1}
	if err := m.SetText("The user asked for a table for four."); err != nil {
		panic(err)
	}
	stored := session.NewEventWithContext(ctx, "inv2")
	record.Set(stored, m) // what a service with compaction does

	history := []*session.Event{said, stored}
	index := record.NewIndex(history)
	for _, ev := range history {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		text, _ := m.Text()
		at, found := index.Find(m.Covered[0])
		fmt.Println(m.RecordID, m.EventCount, at, found, text)
	}
	// Output: r1 1 0 true The user asked for a table for four.
}
