package selector_test

import (
	"testing"

	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

func summary(t *testing.T, id string, level int) *record.Metadata {
	t.Helper()
	m := &record.Metadata{RecordID: id, Level: level}
	if err := m.SetText("The bridge is 35 metres long."); err != nil {
		t.Fatal(err)
	}
	return m
}

// A window that is too small for a frame of its own joins the newest summary of its position, and
// no other.
func TestSmallWindowTakesInTheNewestSummaryOfItsPlace(t *testing.T) {
	t.Parallel()
	oldest, newest, rounds := summary(t, "oldest", 0), summary(t, "newest", 0), summary(t, "rounds", 0)
	at := func(m *record.Metadata) selector.Position {
		if m == rounds {
			return selector.PositionBehind(record.Ref{ID: "question"}, "agent")
		}
		return selector.Position{}
	}
	all := []*record.Metadata{oldest, newest, rounds}
	window := selector.Selection{Tokens: 60}
	for range 2 { // once is enough
		window.AbsorbNewest(all, at)
	}
	if len(window.Absorb) != 1 || window.Absorb[0] != newest || window.Tokens <= 60+50 {
		t.Errorf("took in %v, %d tokens", window.Absorb, window.Tokens)
	}
	alone := selector.Selection{Tokens: 60}
	alone.AbsorbNewest([]*record.Metadata{rounds}, at)
	if len(alone.Absorb) != 0 || alone.Tokens != 60 {
		t.Errorf("took in %v of another place", alone.Absorb)
	}
}

func TestMergeChoosesTheLowestAdjacentPair(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		levels []int
		behind map[int]bool // shown behind an event
		older  int          // -1 for no merge
		newer  int
	}{
		{name: "none", older: -1},
		{name: "one", levels: []int{0}, older: -1},
		{name: "equal levels, older first", levels: []int{0, 0, 0}, older: 0, newer: 1},
		{name: "the lowest equal levels", levels: []int{1, 1, 0, 0}, older: 2, newer: 3},
		{name: "equal before lower", levels: []int{2, 2, 1, 0}, older: 0, newer: 1},
		{name: "no equal levels: the lowest maximum", levels: []int{3, 2, 1, 0}, older: 2, newer: 3},
		{name: "two positions", levels: []int{0, 0}, behind: map[int]bool{1: true}, older: -1},
		{name: "neighbors of one position", levels: []int{0, 0, 0}, behind: map[int]bool{1: true}, older: 0, newer: 2},
	} {
		var shown []*record.Metadata
		for i, level := range row.levels {
			shown = append(shown, summary(t, string(rune('a'+i)), level))
		}
		at := func(m *record.Metadata) selector.Position {
			if row.behind[int(m.RecordID[0]-'a')] {
				return selector.PositionBehind(record.Ref{ID: "question"}, "agent")
			}
			return selector.Position{}
		}
		merge, found := selector.Merge("branch", shown, at)
		if found != (row.older >= 0) {
			t.Errorf("%s: found %t", row.name, found)
			continue
		}
		if found && (merge.Branch != "branch" || len(merge.Absorb) != 2 || merge.Absorb[0] != shown[row.older] || merge.Absorb[1] != shown[row.newer]) {
			t.Errorf("%s: merges %v", row.name, merge.Absorb)
		}
	}
}

func TestMakeRoomMergesUntilOneMoreSummaryFits(t *testing.T) {
	t.Parallel()
	front := func(*record.Metadata) selector.Position { return selector.Position{} }
	shown := []*record.Metadata{summary(t, "a", 1), summary(t, "b", 0), summary(t, "c", 0)}
	for _, row := range []struct {
		name             string
		limit            int
		absorbs          []*record.Metadata // by the window from the start
		merge            bool
		absorbedByWindow int
	}{
		{name: "room", limit: 4},
		{name: "no room", limit: 3, merge: true},
		{name: "what the window absorbs makes room", limit: 3, absorbs: shown[2:], absorbedByWindow: 1},
		{name: "a rolling summary absorbs all", limit: 1, absorbedByWindow: 3},
	} {
		window := selector.Selection{Absorb: row.absorbs}
		merge, needed := selector.MakeRoom(&window, shown, front, row.limit)
		if needed != row.merge || needed && (len(merge.Absorb) != 2 || merge.Absorb[0] != shown[1]) {
			t.Errorf("%s: merge %t of %v", row.name, needed, merge.Absorb)
		}
		if len(window.Absorb) != row.absorbedByWindow {
			t.Errorf("%s: the window absorbs %d summaries, want %d", row.name, len(window.Absorb), row.absorbedByWindow)
		}
	}
}
