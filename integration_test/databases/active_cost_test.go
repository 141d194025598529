package databases_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// window is how many events each record of a filled session covers.
const window = 40

// fillSession stores about n events of half a kilobyte in a new session, a record behind every 40 of them, and 8 events
// behind the last record. The records are merged as they come, so that one is current.
func fillSession(t testing.TB, s *store, db *sql.DB, id string, n int) (stored int) {
	t.Helper()
	ctx := context.Background()
	createSession(ctx, t, s.sessions, id)
	const insert = `INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content, custom_metadata, partial, turn_complete, interrupted)
		SELECT concat('e', i), $1, $2, $3, concat('i', i / 4), CASE i % 4 WHEN 0 THEN 'user' ELSE 'bot' END, '{}', $4::timestamptz + i * interval '1 second',
			CASE i % 4
				WHEN 1 THEN jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object('functionCall', jsonb_build_object('id', concat('c', i % 8), 'name', 'look', 'args', jsonb_build_object('q', repeat('word ', 100))))))
				WHEN 2 THEN jsonb_build_object('role', 'user', 'parts', jsonb_build_array(jsonb_build_object('functionResponse', jsonb_build_object('id', concat('c', (i - 1) % 8), 'name', 'look', 'response', jsonb_build_object('r', repeat('word ', 100))))))
				ELSE jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object('text', repeat('word ', 100))))
			END, NULL, false, false, false
		FROM generate_series($5::int, $6::int) i`
	previous := ""
	for from := 0; from < n; from += window {
		last := min(from+window, n) - 1
		if _, err := db.ExecContext(ctx, insert, appName, userID, id, histories.Epoch, from, last); err != nil {
			t.Fatal(err)
		}
		stored += last - from + 1
		if last-from+1 < window || last == n-1 {
			continue
		}
		m := recordFor(from, last, previous)
		if _, err := db.ExecContext(ctx, `INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, custom_metadata)
			VALUES ($1, $2, $3, $4, 'record', 'user', '{}', $5, $6)`, "event-of-"+m.id, appName, userID, id, histories.Epoch.Add(time.Duration(last)*time.Second), m.json); err != nil {
			t.Fatal(err)
		}
		previous, stored = m.id, stored+1
	}
	if _, err := db.ExecContext(ctx, "UPDATE sessions SET update_time = $1 WHERE id = $2", histories.Epoch.Add(time.Duration(n)*time.Second), id); err != nil {
		t.Fatal(err)
	}
	return stored
}

type rawRecord struct{ id, json string }

// recordFor returns a record of events [from, last] that absorbs the previous one.
func recordFor(from, last int, previous string) rawRecord {
	id := fmt.Sprint("r", from/window)
	var covered []map[string]any
	for i := from; i <= last; i++ {
		covered = append(covered, map[string]any{"id": fmt.Sprint("e", i)})
	}
	absorbed := []string{}
	if previous != "" {
		absorbed = append(absorbed, previous)
	}
	at := histories.Epoch.Add(time.Duration(last) * time.Second).Format(time.RFC3339Nano)
	text, _ := json.Marshal(map[string]any{"_adk_compaction": map[string]any{
		"version": 1, "record_id": id, "kind": "summary", "start_timestamp": at, "end_timestamp": at, "created_at": at, "level": from / window,
		"covered": covered, "absorbed": absorbed, "compacted_content_json": `{"parts":[{"text":"A summary."}],"role":"model"}`,
	}})
	return rawRecord{id, string(text)}
}

// GetActive reads as much of a session of 20,000 events as of one of 200.
func TestALongSessionLoadsAsLittleAsAShortOne(t *testing.T) {
	s, db, service := installed(t)
	var loaded []int
	for _, n := range []int{5 * window, long(50, 500) * window} {
		id := fmt.Sprint(n)
		stored := fillSession(t, s, db, id, n)
		_, few := getActive(t, service, id)
		if few == nil {
			t.Fatalf("a session of %d events is loaded whole; its rows are %q", n, dump(t, db, id)[:3])
		}
		if few.StoredEvents() != stored {
			t.Errorf("%d events are counted, %d are stored", few.StoredEvents(), stored)
		}
		if !sameView(t, service, id) {
			t.Error("everything was loaded")
		}
		loaded = append(loaded, few.Events().Len())
	}
	if loaded[0] != loaded[1] || loaded[0] > window+1+8 {
		t.Errorf("%d and %d events are loaded", loaded[0], loaded[1])
	}
}

// BenchmarkGetActive compares the loading of a session by ADK's Get with that by GetActive, for sessions of different
// lengths in one table.
func BenchmarkGetActive(b *testing.B) {
	s, db, service := installed(b)
	for _, n := range []int{1000, 10_000} {
		id := fmt.Sprint(n)
		began := time.Now()
		stored := fillSession(b, s, db, id, n)
		b.Logf("%d events stored with the triggers in %v", stored, time.Since(began))
		began = time.Now()
		if _, err := db.Exec("SELECT longsession_rebuild($1, $2, $3)", appName, userID, id); err != nil {
			b.Fatal(err)
		}
		b.Logf("made again in %v", time.Since(began))
		_, _ = db.Exec("VACUUM ANALYZE")
		for name, load := range map[string]func(context.Context, *session.GetRequest) (*session.GetResponse, error){"Get": service.Get, "GetActive": service.GetActive} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := load(b.Context(), getRequest(id)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkTurn takes turns of two events over sessions of different lengths, as an app does with a wrapper and the tables
// of Install, and over ADK's service alone.
func BenchmarkTurn(b *testing.B) {
	s, db, service := installed(b)
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.InvocationThreshold, cfg.SafetyRatio = &compactiontest.Oracle{}, compaction.Off, compaction.Off
	wrapped, err := compaction.NewCompactionService(service, cfg)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 10_000, 100_000} {
		id := fmt.Sprint(n)
		fillSession(b, s, db, id, n)
		if _, err := db.Exec("VACUUM ANALYZE"); err != nil {
			b.Fatal(err)
		}
		_, part := getActive(b, service, id)
		read := 0
		for ev := range part.Events().All() {
			text, err := json.Marshal(ev)
			if err != nil {
				b.Fatal(err)
			}
			read += len(text)
		}
		b.Logf("%d events: %d are loaded, %d bytes as JSON", n, part.Events().Len(), read)
		for name, over := range map[string]session.Service{"wrapped": wrapped, "bare": s.sessions} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				turn := 0
				for b.Loop() {
					resp, err := over.Get(b.Context(), getRequest(id))
					if err != nil {
						b.Fatal(err)
					}
					turn++
					for _, ev := range (&compactiontest.History{}).Turn(fmt.Sprint(name, turn), "bot", "What is next?", "Nothing yet.").Events {
						ev.ID, ev.Timestamp = fmt.Sprint(name, b.N, turn, ev.Author), time.Now().UTC().Truncate(time.Microsecond)
						if err := over.AppendEvent(b.Context(), resp.Session, ev); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// BenchmarkGetInALargeTable reads a session of 100 events by ADK's Get, next to many other sessions, without and with the
// index of Install.
func BenchmarkGetInALargeTable(b *testing.B) {
	s := newStore(b, &postgreSQL)
	db := s.open(b, s.engine.adminUser)
	fillSession(b, s, db, "one", 100)
	rows := 0
	for _, n := range []int{10_000, 1_000_000} {
		if _, err := db.Exec(`INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)
			SELECT $1, $2, concat('other', i), '{}', now(), now() FROM generate_series($3::int, $4::int) i`, appName, userID, rows/1000, n/1000-1); err != nil {
			b.Fatal(err)
		}
		if _, err := db.Exec(`INSERT INTO events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp, content)
			SELECT concat('o', i), $1, $2, concat('other', i / 1000), 'i', 'bot', '{}', now() + i * interval '1 microsecond',
				jsonb_build_object('role', 'model', 'parts', jsonb_build_array(jsonb_build_object('text', repeat('word ', 20))))
			FROM generate_series($3::int, $4::int) i`, appName, userID, rows, n-1); err != nil {
			b.Fatal(err)
		}
		rows = n
		for _, index := range []bool{false, true} {
			change := "DROP INDEX IF EXISTS longsession_events_by_time"
			if index {
				change = "CREATE INDEX longsession_events_by_time ON events (app_name, user_id, session_id, timestamp)"
			}
			if _, err := db.Exec(change); err != nil {
				b.Fatal(err)
			}
			if _, err := db.Exec("VACUUM ANALYZE events"); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%d/index=%v", n, index), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.sessions.Get(b.Context(), getRequest("one")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
