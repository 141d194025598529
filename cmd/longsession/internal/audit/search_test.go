package audit

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/recall/index"
)

func TestHitsThatTouchAreOnePassage(t *testing.T) {
	t.Parallel()
	neighbor := func(position int) []index.Neighbor { return []index.Neighbor{{Position: position, Turn: position / 2}} }
	hits := []index.Hit{
		{Position: 20, Turn: 10, Score: 3},
		{Position: 5, Turn: 2, Score: 2, Before: neighbor(4), After: neighbor(6)},
		{Position: 7, Turn: 3, Score: 1, Before: neighbor(6), After: neighbor(8)},
		{Position: 6, Turn: 3, Score: 0.5, Before: neighbor(5), After: neighbor(7)},
	}
	var shown []string
	for _, p := range passages(hits, func(position int) Entry { return Entry{ID: string(rune('a' + position))} }) {
		text := ""
		for _, f := range p {
			text += f.ID
			if f.Score == 0 {
				text += "-"
			}
			if f.Passage != len(shown)+1 {
				t.Errorf("%s is of passage %d, want %d", f.ID, f.Passage, len(shown)+1)
			}
		}
		shown = append(shown, text)
	}
	if got := strings.Join(shown, " "); got != "u e-fghi-" {
		t.Errorf("passages %q", got)
	}
	if none := passages(nil, nil); len(none) != 0 {
		t.Errorf("%v", none)
	}
}
