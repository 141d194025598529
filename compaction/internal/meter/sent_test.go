package meter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// TestCountsAreComparedWithWhatWasSent: a provider counts half as much again as the estimate, and 300 for
// the rest. Masking leaves 400, 700 and 500 tokens of a view that grows. Later handles read the same counts
// when nothing of the prompts but the view is left.
func TestCountsAreComparedWithWhatWasSent(t *testing.T) {
	t.Parallel()
	h := &ct.History{}
	s := newSession()
	v := view.New(nil)
	m := New(v, s)
	for i, sent := range []int{400, 700, 500} {
		inv := fmt.Sprint("inv", i)
		v.Append(h.User(inv, strings.Repeat("word ", 700)).Last())
		m.Prompt("")
		whole := s.estimates[""]
		if !s.Requested("", "bot", sent, 200, whole-sent) {
			t.Fatal("the request was not noted")
		}
		v.Append(counted(h.Agent(inv, "bot", "Done.").Last(), int32(300+sent*3/2)))
		m.Prompt("")
	}
	for name, meter := range map[string]*Meter{"the same handle": m, "a new one": New(view.New(slices.Clone(h.Events)), s)} {
		meter.Learn("")
		if line := s.fits[""]["bot"].Line(); line.Ratio < 1.49 || line.Ratio > 1.51 || line.Overhead < 295 || line.Overhead > 305 {
			t.Errorf("%s learned %+v, want 1.5 and 300", name, line)
		}
	}
}

// A compaction begins with the oldest results, which were masked already: what is left is sent in full.
func TestAViewFirstLosesWhatWasMasked(t *testing.T) {
	t.Parallel()
	masked := &request{view: 1_000, contents: 400, masked: 600}
	cut := &request{view: 1_000, contents: 400}
	for _, r := range []struct {
		of             *request
		estimate, want int
	}{
		{masked, 1_200, 600}, {masked, 1_000, 400}, {masked, 500, 400}, {masked, 300, 300}, {masked, 0, 0},
		{cut, 1_200, 600}, {cut, 500, 200}, {nil, 500, 500},
	} {
		if got := r.of.of(r.estimate); got != r.want {
			t.Errorf("%+v: of a view of %d tokens %d are sent, want %d", r.of, r.estimate, got, r.want)
		}
	}
}

// Only as many counts are remembered as a fit goes by, the newest ones.
func TestOldCountsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newSession()
	h := &ct.History{}
	for i := range recentCounts + 5 {
		ev := h.Agent("inv", "bot", fmt.Sprint("answer ", i)).Last()
		s.noteSent("", "bot", sentPrompt{by: record.RefTo(ev), contents: i})
	}
	if n := len(s.sent[""]["bot"]); n != recentCounts {
		t.Errorf("%d counts are remembered, want %d", n, recentCounts)
	}
	if _, ok := s.sentFor("", h.Events[0]); ok {
		t.Error("the oldest count is remembered")
	}
	if p, ok := s.sentFor("", h.Last()); !ok || p.contents != recentCounts+4 {
		t.Errorf("the newest count is %+v", p)
	}
}
