package persistence_test

import (
	"fmt"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// keeper appends to a session and compacts its root branch. It keeps at most five summaries and
// merges the oldest two to make room.
type keeper struct {
	testing.TB
	service *persistence.SQLiteSessionService
	session session.Session
	raw     ct.History // events that no record covers
	live    []*session.Event
	records int
}

func newKeeper(t testing.TB, s *persistence.SQLiteSessionService, id string) *keeper {
	return &keeper{TB: t, service: s, session: create(t, s, id)}
}

// say appends the newest n events of raw.
func (k *keeper) say(n int) {
	k.Helper()
	appendTo(k, k.service, k.session, k.raw.Events[len(k.raw.Events)-n:]...)
}

// compact covers the oldest n events of raw.
func (k *keeper) compact(n int) {
	k.Helper()
	if len(k.live) >= 5 {
		merged := histories.Absorb(fmt.Sprint("m", k.records), k.live[0], k.live[1])
		k.live = k.live[2:]
		k.add(merged)
	}
	window := ct.History{Events: k.raw.Events[:n]}
	k.add(window.Record(fmt.Sprint("w", k.records), ct.IDs(window.Events)...))
	k.raw.Events = k.raw.Events[n:]
}

func (k *keeper) add(rec *session.Event) {
	k.Helper()
	k.records++
	rec = histories.Amend(rec, func(m *record.Metadata) {
		if err := m.SetText("summary " + m.RecordID); err != nil {
			k.Fatal(err)
		}
	})
	appendTo(k, k.service, k.session, rec)
	k.live = append(k.live, rec)
}

// turns adds turns of four events with a tool call. The call IDs start at one in every turn, as
// those of some providers do. A window has five turns, and the newest two turns stay raw.
func (k *keeper) turns(n int) {
	k.Helper()
	for i := range n {
		inv := fmt.Sprint("inv", i)
		k.raw.User(inv, ct.Fact(i)).Call(inv, "bot", "tool", "1").Response(inv, "bot", "tool", ct.Fact(i), "1").Agent(inv, "bot", "done")
		added := k.raw.Events[len(k.raw.Events)-4:]
		for j, ev := range added {
			ev.ID = fmt.Sprintf("%d-%d", i, j)
			ev.Timestamp = histories.Epoch.AddDate(0, 0, i)
		}
		k.say(len(added))
		if len(k.raw.Events) >= 7*4 {
			k.compact(5 * 4)
		}
	}
}
