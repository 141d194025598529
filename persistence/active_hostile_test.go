package persistence_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// The views are equal for odd clocks, authors, parts and answers. The records are either circular,
// forged or about other branches, or sound, so that GetActive loads less.
func TestHostileHistoriesAreShownAlike(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "random histories in one goroutine")
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	random := rand.New(rand.NewPCG(3, 4))
	hiding, partial := 0, 0
	for n := range 300 {
		id, sound := fmt.Sprint(n), n%3 > 0
		handle := create(t, s, id)
		for i, ev := range histories.Generate(4+random.IntN(40), random.IntN) {
			if sound && record.Is(ev) {
				ev = soundRecord(fmt.Sprint("sound", i), view.Collect(get(t, s, id).Events()), random)
			}
			if ev == nil {
				continue
			}
			if err := s.AppendEvent(t.Context(), handle, ev); err != nil && !errors.Is(err, persistence.ErrEventExists) {
				t.Fatal(err)
			}
		}
		if sameView(t, s, id) {
			partial++
		}
		if all := view.Inspect(view.Collect(get(t, s, id).Events())); len(all.Current) > 0 {
			hiding++
		}
	}
	t.Logf("%d histories with summaries, %d loaded in part", hiding, partial)
	if hiding < 200 || partial < 20 { // 26 and more with each of ADK's majors
		t.Errorf("%d histories with summaries, %d loaded in part", hiding, partial)
	}
}

// soundRecord returns a record of uncovered events of one branch, or nil.
func soundRecord(id string, stored []*session.Event, random *rand.Rand) *session.Event {
	state, branch := view.Inspect(stored), []string{"", "p.a", "p.b"}[random.IntN(3)]
	var covered []string
	for i, ev := range stored {
		if !record.Is(ev) && ev.Branch == branch && !state.CoveredAt(i) && random.IntN(4) > 0 {
			covered = append(covered, ev.ID)
		}
	}
	if len(covered) == 0 {
		return nil
	}
	return (&ct.History{Events: stored}).Record(id, covered...)
}

// After two writers compact the same turns, every handle shows the same, also after the next merge.
func TestTwoWritersThatCompactTheSameTurnsAreShownAlike(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	h := (&ct.History{}).Turns(6, "bot")
	services := []*persistence.SQLiteSessionService{open(t, path), open(t, path)}
	appendTo(t, services[0], create(t, services[0], "s"), h.Events...)
	var handles []session.Session
	for _, s := range services {
		handles = append(handles, active(t, s, "s"))
	}
	records := []*session.Event{h.Record("r1", "e1", "e2", "e3", "e4"), h.Record("r2", "e1", "e2", "e3", "e4", "e5", "e6")}
	check := func(want bool) {
		t.Helper()
		for i, s := range services {
			if sameView(t, s, "s") != want {
				t.Errorf("service %d loads a part: %v", i, !want)
			}
		}
	}
	appendTo(t, services[0], handles[0], records[0])
	check(true)
	appendTo(t, services[1], handles[1], records[1])
	check(false)
	merged := histories.Absorb("r3", records...)
	appendTo(t, services[0], handles[0], merged)
	check(false)
	appendTo(t, services[1], handles[1], text("e99", "more"))
	check(false)
	if shown := view.Project(view.Collect(active(t, services[1], "s").Events())); len(shown) != 1+6+1 {
		t.Errorf("the view is %v", ct.IDs(shown))
	}
}
