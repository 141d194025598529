//go:build ignore

package audit_test

import (
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
)

// What a node of a workflow has put out is not in the content of its event, nor is the route that it has chosen. A history
// for people has both.
func TestAHistoryHasWhatANodePutsOut(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(1, "bot").AddEvent(&session.Event{
		ID: "node", InvocationID: "i1", Author: "flow", NodeInfo: &session.NodeInfo{Path: "flow/price"}, Routes: []string{"cheap"}, Output: map[string]any{"price": "<17>"},
	})
	f := open(t, built(t, h))
	var entries []audit.Entry
	for row, err := range f.Rows(t.Context(), find(t, f, ""), 0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, audit.EntryOf(row))
	}
	got := entries[len(entries)-1]
	for _, want := range []string{`Routes: ["cheap"]`, `Output: {"price":"<17>"}`, `NodeInfo: {"path":"flow/price"}`} {
		if !slices.Contains(got.Other, want) {
			t.Errorf("it lacks %s: %q", want, got.Other)
		}
	}
	if others := entries[0].Other; len(others) > 0 {
		t.Errorf("a message has %q", others)
	}
}
