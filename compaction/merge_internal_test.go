package compaction

import (
	"testing"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/selector"
)

// A window that is too small for a frame of its own joins the newest summary of its place, and no other.
func TestSmallWindowTakesInTheNewestSummaryOfItsPlace(t *testing.T) {
	t.Parallel()
	summary := func(id string) *record.Metadata {
		m := &record.Metadata{RecordID: id}
		if err := m.SetText("The bridge is 35 metres long."); err != nil {
			t.Fatal(err)
		}
		return m
	}
	oldest, newest, rounds := summary("oldest"), summary("newest"), summary("rounds")
	placeOf := func(m *record.Metadata) standing {
		if m == rounds {
			return standing{agent: "agent"}
		}
		return front
	}
	all := []*record.Metadata{oldest, newest, rounds}
	sel := selector.Selection{Tokens: 60}
	for range 2 { // once is enough
		takeNewest(&sel, all, placeOf)
	}
	if len(sel.Absorb) != 1 || sel.Absorb[0] != newest || sel.Tokens <= 60+50 {
		t.Errorf("took in %v, %d tokens", sel.Absorb, sel.Tokens)
	}
	alone := selector.Selection{Tokens: 60}
	takeNewest(&alone, []*record.Metadata{rounds}, placeOf)
	if len(alone.Absorb) != 0 || alone.Tokens != 60 {
		t.Errorf("took in %v of another place", alone.Absorb)
	}
}
