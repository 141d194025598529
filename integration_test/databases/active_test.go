package databases_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
	"github.com/adk-go-ext/longsession/record"
)

// installed returns a PostgreSQL database with the tables of adkdb.Install, and the service over it.
func installed(t testing.TB) (*store, *sql.DB, *adkdb.Service) {
	t.Helper()
	s := newStore(t, &postgreSQL)
	db := s.open(t, s.engine.adminUser)
	if err := adkdb.Install(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return s, db, around(t, s.sessions, db)
}

// around returns the service of package adkdb.
func around(t testing.TB, inner session.Service, db *sql.DB) *adkdb.Service {
	t.Helper()
	service, err := adkdb.New(inner, db)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// open opens the store's database once more.
func (s *store) open(t testing.TB, user string) *sql.DB {
	t.Helper()
	return openPool(t, s.engine, s.engine.dsn(s.dir, s.name, user))
}

func getRequest(id string) *session.GetRequest {
	return &session.GetRequest{AppName: appName, UserID: userID, SessionID: id}
}

func getWhole(t testing.TB, service session.Service, id string) session.Session {
	t.Helper()
	resp, err := service.Get(context.Background(), getRequest(id))
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

// getActive returns a session that is loaded for its view, and whether events were left out.
func getActive(t testing.TB, service *adkdb.Service, id string) (session.Session, *adkdb.ActiveSession) {
	t.Helper()
	resp, err := service.GetActive(context.Background(), getRequest(id))
	if err != nil {
		t.Fatal(err)
	}
	few, _ := resp.Session.(*adkdb.ActiveSession)
	return resp.Session, few
}

// shownEvents returns what a view shows, for comparison.
func shownEvents(view []*session.Event) []string {
	out := make([]string, len(view))
	for i, ev := range view {
		out[i] = ev.ID + "|" + ev.Author
		if ev.Content != nil {
			for _, part := range ev.Content.Parts {
				if part != nil {
					out[i] += "|" + part.Text
				}
			}
		}
	}
	return out
}

// sameView compares the view of what GetActive loads with the view of the whole session, and checks what was
// loaded. It reports whether some events were not loaded.
func sameView(t testing.TB, service *adkdb.Service, id string) (partial bool) {
	t.Helper()
	all := getWhole(t, service, id)
	stored := view.Collect(all.Events())
	loadedSession, few := getActive(t, service, id)
	loaded := view.Collect(loadedSession.Events())
	full := view.Inspect(stored)
	part := view.New(loaded)
	if few != nil && few.Partial() {
		part = view.NewPartial(loaded, view.Unloaded{
			Covered:   func(ev *session.Event) bool { return few.Covered(ev.ID) },
			Overtaken: func(ev *session.Event) bool { return few.Overtaken(ev.ID) },
		})
	}
	if got, want := shownEvents(part.Events().Slice()), shownEvents(full.View); !slices.Equal(got, want) {
		t.Fatalf("session %s: of %d events %v are loaded\nview of these: %q\nview of all:   %q", id, len(stored), compactiontest.IDs(loaded), got, want)
	}
	if got, want := loadedSession.LastUpdateTime(), all.LastUpdateTime(); !got.Equal(want) {
		t.Fatalf("session %s: updated at %v, want %v", id, got, want)
	}
	if few == nil {
		if len(loaded) != len(stored) {
			t.Fatalf("session %s: %d of %d events are loaded, and it is said to be whole", id, len(loaded), len(stored))
		}
		return false
	}
	if few.StoredEvents() != len(stored) || few.Partial() != (len(loaded) < len(stored)) {
		t.Fatalf("session %s: %d of %d events loaded: stored %d, partial %v", id, len(loaded), len(stored), few.StoredEvents(), few.Partial())
	}
	visible := map[string]*session.Event{}
	for _, ev := range full.View {
		if full.IsStored(ev) {
			visible[ev.ID] = ev
		}
	}
	current := map[string]bool{}
	for _, m := range full.Current {
		current[m.RecordID] = true
	}
	answer := adk.Resumed(stored)
	for _, ev := range loaded {
		m, err := record.From(ev)
		comesAlong := answer >= 0 && ev.InvocationID == stored[answer].InvocationID // with the run that it goes on with
		if m != nil && !current[m.RecordID] || m == nil && err == nil && visible[ev.ID] == nil && !comesAlong {
			t.Fatalf("session %s: event %s is loaded, but the view does not need it", id, ev.ID)
		}
		if ev := visible[ev.ID]; ev != nil && few.Covered(ev.ID) != full.Covered(ev) {
			t.Fatalf("session %s: event %s: covered %v, want %v", id, ev.ID, few.Covered(ev.ID), full.Covered(ev))
		}
	}
	return few.Partial()
}

// growth is a session that grows at random. It is stored by ADK's service, so that only the triggers know.
type growth struct {
	*testing.T
	*rand.Rand
	service session.Service
	handle  session.Session
	h       compactiontest.History
	called  []string
	records int
	// skewed lets the clocks of its processes differ, so that events are stored in another order than that of their times.
	skewed bool
	// wild adds answers to calls that were never made, and records that no single wrapper writes.
	wild bool
}

func (g *growth) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *growth) callID() string {
	g.called = append(g.called, g.one("1", "2", "3", ""))
	return g.called[len(g.called)-1]
}

func (g *growth) answered() string {
	if len(g.called) == 0 || g.wild && g.IntN(8) == 0 {
		return g.callID()
	}
	return g.called[g.IntN(len(g.called))]
}

// speak adds an event.
func (g *growth) speak() {
	g.h.Branch(g.one("", "", "", "p.a", "p.b"))
	agent := g.one("bot", "bot", "helper")
	inv := fmt.Sprint("i", len(g.h.Events)/5+g.IntN(2))
	kind := g.IntN(9)
	if len(g.called) == 0 && !g.wild && (kind == 6 || kind == 7) {
		kind = 4
	}
	switch kind {
	case 0, 1:
		g.h.User(inv, "question")
	case 2, 3:
		g.h.Agent(inv, agent, "answer")
	case 4:
		g.h.Call(inv, agent, "tool", g.callID())
	case 5:
		g.h.Call(inv, agent, "tool", g.callID(), g.callID()).Long("1")
	case 6:
		g.h.Response(inv, g.one(agent, "user"), "tool", "result", g.answered())
	case 7:
		g.h.Response(inv, agent, "tool", "results", g.answered(), g.answered())
	default:
		g.h.Add(inv, g.one(agent, "user", ""), []*genai.Content{nil, {}}[g.IntN(2)])
	}
	clock := len(g.h.Events)
	if g.skewed && g.IntN(4) == 0 {
		clock -= g.IntN(6)
	}
	g.h.Last().Timestamp = histories.Epoch.Add(time.Duration(clock)*time.Second + time.Duration(len(g.h.Events))*time.Microsecond)
}

// compact adds a record of visible events or records. It reports whether there were any.
func (g *growth) compact() bool {
	branch := g.one("", "", "", "p.a", "p.b")
	state := view.Inspect(g.h.Events)
	var events, rounds, records []string
	for i, ev := range g.h.Events {
		if record.Is(ev) || ev.Branch != branch || state.CoveredAt(i) {
			continue
		}
		if events = append(events, ev.ID); ev.Author == "bot" {
			rounds = append(rounds, ev.ID)
		}
	}
	for _, m := range state.Current {
		if m.Branch == branch {
			records = append(records, m.RecordID)
		}
	}
	name := fmt.Sprint("r", g.records)
	events, rounds, records = g.some(events), g.some(rounds), g.some(records)
	after := g.h.Events[g.IntN(len(g.h.Events))]
	last := g.h.Events[len(g.h.Events)-1].Timestamp
	switch kind := g.IntN(4); {
	case kind == 0 && len(records) > 0:
		g.h.Merge(name, records...)
		if g.IntN(2) == 0 {
			g.h.Amend(func(m *record.Metadata) {
				for _, id := range events {
					m.Covered = append(m.Covered, record.Ref{ID: id})
				}
			})
		}
	case kind == 1 && len(rounds) > 0 && !record.Is(after):
		g.h.Compact(name, rounds...).Amend(func(m *record.Metadata) { m.After, m.Agent = record.RefTo(after), "bot" })
	case kind > 1 && len(events) > 0:
		g.h.Compact(name, events...)
	default:
		return false
	}
	g.h.Last().Timestamp = last
	if g.records++; g.wild {
		g.spoil()
	}
	return true
}

func (g *growth) some(of []string) []string {
	if len(of) == 0 {
		return nil
	}
	from := g.IntN(len(of))
	return of[from : from+1+g.IntN(len(of)-from)]
}

// spoil replaces the newest record by something that no single wrapper writes, or by nothing readable.
func (g *growth) spoil() {
	event := fmt.Sprint("e", 1+g.IntN(len(g.h.Events)+2))
	earlier := fmt.Sprint("r", g.IntN(g.records+1))
	g.h.Amend(func(m *record.Metadata) {
		switch g.IntN(14) {
		case 0:
			m.Covered = append(m.Covered, record.Ref{ID: event})
		case 1:
			m.Absorbed = append(m.Absorbed, earlier)
		case 2:
			m.RecordID = earlier
		case 3:
			m.Branch = "p.a"
		case 4:
			m.After, m.Agent = record.Ref{ID: event}, "helper"
		case 5:
			m.Covered = append(m.Covered, record.RefTo(g.h.Events[0]))
			m.Covered[0].ID = ""
		case 6:
			m.CreatedAt = histories.Epoch
		}
	})
	if g.IntN(10) == 0 {
		g.h.Last().CustomMetadata = map[string]any{record.Key: g.one("{", "3")}
	}
}

// store appends the events from a position on.
func (g *growth) store(from int) {
	for _, ev := range g.h.Events[from:] {
		if err := g.service.AppendEvent(context.Background(), g.handle, ev); err != nil {
			g.Fatal(err)
		}
	}
}

// The views are equal after any sequence of appends, records and merges, whoever stored them, and also if the
// clocks of the processes differ.
func TestTheViewOfWhatIsLoadedIsTheViewOfAll(t *testing.T) {
	s, db, service := installed(t)
	for _, kind := range []string{"sound", "skewed", "wild"} {
		t.Run(kind, func(t *testing.T) {
			compared, partial := 0, 0
			for n := range long(30, 300) {
				id := fmt.Sprint(kind, n)
				createSession(t.Context(), t, s.sessions, id)
				g := &growth{T: t, Rand: rand.New(rand.NewPCG(uint64(n), 7)), service: s.sessions, skewed: kind != "sound", wild: kind == "wild"}
				g.handle = getWhole(t, s.sessions, id)
				for range 5 + g.IntN(40) {
					was, check := len(g.h.Events), false
					if action := g.IntN(10); action <= 2 && was > 0 {
						check = g.compact()
					} else {
						g.speak()
						check = g.records > 0 && action == 9
					}
					if g.store(was); check {
						if compared++; sameView(t, service, id) {
							partial++
						}
					}
				}
				mustRebuildAlike(t, db, id)
			}
			t.Logf("%d views compared, %d of them of a part", compared, partial)
			if compared < 30 || partial < 3 { // with the race detector it plays a thirtieth
				t.Errorf("%d views compared, %d of them of a part: the test proves too little", compared, partial)
			}
		})
	}
}

// dump returns the rows of a session in the tables of Install.
func dump(t testing.TB, db *sql.DB, id string) []string {
	t.Helper()
	rows, err := db.Query(`WITH s AS (SELECT key, state FROM longsession_sessions WHERE session_id = $1)
		SELECT 'state ' || state FROM s
		UNION ALL SELECT concat_ws(' ', 'visible', event_id, branch, author, record_id, anchor, events, last_user, last_agent) FROM longsession_visible JOIN s ON key = session
		UNION ALL SELECT concat_ws(' ', 'record', record_id, event_id) FROM longsession_records JOIN s ON key = session
		UNION ALL SELECT concat_ws(' ', 'call', event_id, call_id, answer, orphan, branch, time, (SELECT min(u.event_id) FROM longsession_calls u WHERE u.session = c.session AND u.unit = c.unit))
			FROM longsession_calls c JOIN s ON key = session
		ORDER BY 1`, id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// mustRebuildAlike makes the rows of a session again, and checks that an exact one does not change.
func mustRebuildAlike(t testing.TB, db *sql.DB, id string) {
	t.Helper()
	before := dump(t, db, id)
	var state string
	if err := db.QueryRow("SELECT longsession_rebuild($1, $2, $3)", appName, userID, id).Scan(&state); err != nil {
		t.Fatal(err)
	}
	if after := dump(t, db, id); slices.Contains(before, "state exact") && !slices.Equal(before, after) {
		t.Fatalf("session %s has\n%q\nand after it was made again\n%q", id, before, after)
	}
}

// GetActive reads the columns by itself. Its events are those of ADK's service, in every field that the tables of this
// major of ADK have.
func TestEveryColumnOfAnEventIsReadAsADKReadsIt(t *testing.T) {
	s, _, service := installed(t)
	resp, err := service.Create(t.Context(), &session.CreateRequest{AppName: appName, UserID: userID, SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range everyField() {
		ev.Timestamp = ev.Timestamp.Add(time.Duration(2*i) * time.Hour) // a later time each
		if err := service.AppendEvent(t.Context(), resp.Session, ev); err != nil {
			t.Fatal(err)
		}
	}
	loaded, few := getActive(t, service, "s")
	want := view.Collect(getWhole(t, s.sessions, "s").Events())
	if few == nil || len(want) != 3 {
		t.Fatalf("%T is loaded of %d events", loaded, len(want))
	}
	if diff := cmp.Diff(want, view.Collect(loaded.Events())); diff != "" {
		t.Errorf("the events differ (-ADK's service +GetActive):\n%s", diff)
	}
}
