package persistence_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// recordOver returns a record over events of a session that has no other events.
func recordOver(t testing.TB, id string, covered ...string) *session.Event {
	t.Helper()
	return absorbing(t, id, nil, covered...)
}

func absorbing(t testing.TB, id string, absorbed []string, covered ...string) *session.Event {
	t.Helper()
	m := &record.Metadata{RecordID: id, Kind: record.KindSummary, Trigger: record.TriggerInvocations, CreatedAt: histories.Epoch, Absorbed: absorbed}
	for _, name := range covered {
		m.Covered = append(m.Covered, record.Ref{ID: name})
	}
	return recordOf(t, m)
}

func recordOf(t testing.TB, m *record.Metadata) *session.Event {
	t.Helper()
	if err := m.SetText("summary " + m.RecordID); err != nil {
		t.Fatal(err)
	}
	ev := histories.RecordEvent(m, time.Now())
	ev.ID = "event-of-" + m.RecordID
	return ev
}

func isSuperseded(err error) bool {
	var s interface{ Superseded() bool }
	return errors.Is(err, persistence.ErrRecordSuperseded) && errors.As(err, &s) && s.Superseded()
}

// stray is a session that no service created. A handle of another layer looks like this to the
// service.
type stray struct{ session.Session }

func TestARecordIsInsertedAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	one := text("1", "one")
	one.Actions.StateDelta = map[string]any{"k": "v"}
	appendTo(t, s, sess, one, text("2", "two"), text("3", "three"))
	before := get(t, s, "s")

	rec := recordOver(t, "r", "1", "2")
	rec.Timestamp = time.Now().Add(time.Hour)
	if err := s.AppendRecord(t.Context(), stray{sess}, rec); err != nil {
		t.Fatal(err)
	}
	after := get(t, s, "s")
	if got := ids(after); !slices.Equal(got, []string{"1", "2", "3", "event-of-r"}) {
		t.Errorf("stored: %v", got)
	}
	if got := ids(sess); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("the handle's events changed: %v", got)
	}
	if !after.LastUpdateTime().Equal(before.LastUpdateTime()) {
		t.Errorf("the update time moved from %v to %v", before.LastUpdateTime(), after.LastUpdateTime())
	}
	if stored := after.Events().At(3); !stored.Timestamp.Equal(before.LastUpdateTime()) || !rec.Timestamp.Equal(stored.Timestamp) {
		t.Errorf("stored at %v, returned as %v; the session was updated at %v", stored.Timestamp, rec.Timestamp, before.LastUpdateTime())
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM events WHERE covered_by = 'r'": 2,
		"SELECT contested FROM sessions":                     0,
		"SELECT last_seq FROM sessions":                      4,
		"SELECT count(*) FROM session_state":                 1,
	} {
		if got := number(t, path, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	if !sameView(t, s, "s") {
		t.Error("the whole session is loaded")
	}
	// The stale handle still accepts appends, as after any append through another handle.
	appendTo(t, s, sess, text("4", "four"))
}

func TestARecordThatIsOutOfDateIsNotStored(t *testing.T) {
	t.Parallel()
	for name, ev := range map[string]func(*testing.T) *session.Event{
		"event covered":        func(t *testing.T) *session.Event { return recordOver(t, "new", "1", "3") },
		"event missing":        func(t *testing.T) *session.Event { return recordOver(t, "new", "3", "99") },
		"event a record":       func(t *testing.T) *session.Event { return recordOver(t, "new", "event-of-b") },
		"record absorbed":      func(t *testing.T) *session.Event { return absorbing(t, "new", []string{"a"}, "3") },
		"record missing":       func(t *testing.T) *session.Event { return absorbing(t, "new", []string{"zz"}) },
		"event of a branch":    func(t *testing.T) *session.Event { return recordOver(t, "new", "side") },
		"event without an ID":  func(t *testing.T) *session.Event { return recordOver(t, "new", "") },
		"absorbs itself first": func(t *testing.T) *session.Event { return absorbing(t, "new", []string{"b", "new2"}) },
	} {
		for _, contested := range []bool{false, true} {
			t.Run(fmt.Sprint(name, contested), func(t *testing.T) {
				t.Parallel()
				path := newPath(t)
				s := open(t, path)
				sess := create(t, s, "s")
				side := text("side", "aside")
				side.Branch = "bot"
				appendTo(t, s, sess, text("1", ""), text("2", ""), text("3", ""), side)
				for _, rec := range []*session.Event{recordOver(t, "a", "1"), absorbing(t, "b", []string{"a"}, "2")} {
					if err := s.AppendRecord(t.Context(), sess, rec); err != nil {
						t.Fatal(err)
					}
				}
				if contested { // by a record of another writer that covers the same event
					appendTo(t, s, sess, recordOver(t, "elsewhere", "2"))
				}
				want := ids(get(t, s, "s"))
				rec := ev(t)
				made := rec.Timestamp
				if err := s.AppendRecord(t.Context(), sess, rec); !isSuperseded(err) {
					t.Errorf("error %v", err)
				}
				if got := ids(get(t, s, "s")); !slices.Equal(got, want) || !rec.Timestamp.Equal(made) {
					t.Errorf("stored %v, before %v", got, want)
				}
				if n := number(t, path, "SELECT contested FROM sessions"); (n == 1) != contested {
					t.Errorf("contested is %d", n)
				}
				// A record that is still current can be stored.
				if err := s.AppendRecord(t.Context(), sess, absorbing(t, "good", []string{"b"}, "3")); err != nil {
					t.Error(err)
				}
				sameView(t, s, "s")
			})
		}
	}
}

// The column covered_by cannot distinguish two IDs that are equal in JSON, but the position can.
func TestARecordOverIDsThatAreNoUTF8IsStored(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	odd := text("\xff", "odd")
	appendTo(t, s, sess, odd, text("2", ""))
	m := &record.Metadata{RecordID: "r", Kind: record.KindSummary, Trigger: record.TriggerManual, CreatedAt: histories.Epoch, Covered: []record.Ref{record.RefTo(odd)}}
	if err := s.AppendRecord(t.Context(), sess, recordOf(t, m)); err != nil {
		t.Fatal(err)
	}
	again := *m
	again.RecordID = "again"
	if err := s.AppendRecord(t.Context(), sess, recordOf(t, &again)); !isSuperseded(err) {
		t.Errorf("the second record over one event: %v", err)
	}
	sameView(t, s, "s")
}

// A competing record of another writer replaces a record if it covers all of its events.
func TestAReplacedRecordIsNotAbsorbed(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("1", ""), text("2", ""), text("3", ""))
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "a", "1")); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, sess, histories.Amend(recordOver(t, "b", "1", "2"), func(m *record.Metadata) { m.CreatedAt = histories.Epoch.Add(time.Hour) }))
	if err := s.AppendRecord(t.Context(), sess, absorbing(t, "m", []string{"a"})); !isSuperseded(err) {
		t.Errorf("absorbing a record that another one replaces: %v", err)
	}
	if err := s.AppendRecord(t.Context(), sess, absorbing(t, "m", []string{"b"}, "3")); err != nil {
		t.Error(err)
	}
}

func TestARetryOfARecordStoresNoSecondOne(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("1", ""), text("2", ""))
	first := recordOver(t, "r", "1")
	if err := s.AppendRecord(t.Context(), sess, first); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, sess, text("3", "")) // moves the update time
	if err := s.AppendRecord(t.Context(), sess, absorbing(t, "m", []string{"r"})); err != nil {
		t.Fatal(err)
	}
	again := recordOver(t, "r", "1")
	again.ID, again.Timestamp = "another-id", time.Time{}
	if err := s.AppendRecord(t.Context(), sess, again); err != nil {
		t.Fatal(err)
	}
	if again.ID != first.ID || !again.Timestamp.Equal(first.Timestamp) {
		t.Errorf("the retry returned event %s of %v, stored is %s of %v", again.ID, again.Timestamp, first.ID, first.Timestamp)
	}
	if got := ids(get(t, s, "s")); !slices.Equal(got, []string{"1", "2", "event-of-r", "3", "event-of-m"}) {
		t.Errorf("stored: %v", got)
	}
	nameless := recordOver(t, "n", "2")
	nameless.ID = ""
	if err := s.AppendRecord(t.Context(), sess, nameless); err != nil || nameless.ID == "" {
		t.Errorf("a record event without an ID: %q, %v", nameless.ID, err)
	}
}

func TestWhatCannotBeARecordIsRefused(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("1", ""))
	unreadable := recordOver(t, "r", "1")
	unreadable.CustomMetadata = map[string]any{record.Key: map[string]any{"version": 2.0}}
	stateful := recordOver(t, "r", "1")
	stateful.Actions.StateDelta = map[string]any{"k": "v"}
	taken := recordOver(t, "r", "1")
	taken.ID = "1"
	for name, c := range map[string]struct {
		ev   *session.Event
		says string
	}{
		"message":    {text("2", "hello"), "not a compaction record"},
		"unreadable": {unreadable, "cannot be read"},
		"state":      {stateful, "state"},
		"taken":      {taken, persistence.ErrEventExists.Error()},
		"nil":        {nil, "nil"},
	} {
		if err := s.AppendRecord(t.Context(), sess, c.ev); err == nil || !strings.Contains(err.Error(), c.says) || isSuperseded(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var typed *persistence.ActiveSession
	for _, none := range []session.Session{nil, typed} {
		if err := s.AppendRecord(t.Context(), none, recordOver(t, "r", "1")); err == nil || !strings.Contains(err.Error(), "nil") {
			t.Errorf("without a session: %v", err)
		}
		if err := s.AppendEvent(t.Context(), none, text("2", "")); err == nil || !strings.Contains(err.Error(), "nil") {
			t.Errorf("an event without a session: %v", err)
		}
	}
	if n := number(t, path, "SELECT count(*) FROM events"); n != 1 {
		t.Errorf("%d events stored", n)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "1")); !adk.IsNotFound(err) {
		t.Errorf("a deleted session: %v", err)
	}
	create(t, s, "s")
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "1")); !isSuperseded(err) {
		t.Errorf("a re-created session: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.AppendRecord(ended, sess, recordOver(t, "r", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRecord(t.Context(), sess, recordOver(t, "r", "1")); !errors.Is(err, persistence.ErrClosed) {
		t.Errorf("a closed service: %v", err)
	}
	if err := open(t, path, persistence.WithReadOnly()).AppendRecord(t.Context(), sess, recordOver(t, "r", "1")); !errors.Is(err, persistence.ErrReadOnly) {
		t.Errorf("a read-only service: %v", err)
	}
}

// racer is the name prefix of the child processes in a race.
const racer = "racer"

// windows is the number of windows that the children of a race summarize.
const windows = 25

// race waits for the file "go", then offers a record for every window and prints the windows it
// won.
func race(path, name string) (err error) {
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	return win(s, name, func(won string) { fmt.Println(won) })
}

func win(s *persistence.SQLiteSessionService, name string, won func(string)) error {
	for w := range windows {
		m := &record.Metadata{RecordID: fmt.Sprint(name, "-", w), Kind: record.KindSummary, Trigger: record.TriggerInvocations, CreatedAt: histories.Epoch,
			Covered: []record.Ref{{ID: fmt.Sprint("a", w)}, {ID: fmt.Sprint("b", w)}}}
		if err := m.SetText("summary"); err != nil {
			return err
		}
		ev := histories.RecordEvent(m, histories.Epoch)
		ev.ID = "event-of-" + m.RecordID
		switch err := s.AppendRecord(context.Background(), named{}, ev); {
		case err == nil:
			won(m.RecordID)
		case !isSuperseded(err):
			return err
		}
	}
	return nil
}

// named identifies session "s" without being a handle of it.
type named struct{ session.Session }

func (named) AppName() string { return app }
func (named) UserID() string  { return user }
func (named) ID() string      { return "s" }

func TestOfTwoThatSummarizeTheSameEventsOneWins(t *testing.T) {
	t.Parallel()
	for kind, compete := range map[string]func(t *testing.T, path string) [][]string{
		"services": func(t *testing.T, path string) [][]string {
			won := make([][]string, 3)
			var wg sync.WaitGroup
			for i := range won {
				s := open(t, path, persistence.WithSynchronousNormal())
				wg.Go(func() {
					if err := win(s, fmt.Sprint("r", i), func(id string) { won[i] = append(won[i], id) }); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			return won
		},
		"processes": func(t *testing.T, path string) [][]string {
			won := make([][]string, 2)
			var children []*exec.Cmd
			var starts []func() error
			var wg sync.WaitGroup
			for i := range won {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprintf("%s\n%s%d\n0", path, racer, i))
				cmd.Stderr = os.Stderr
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewScanner(out)
				if !lines.Scan() {
					t.Fatal("a child did not start")
				}
				children = append(children, cmd)
				starts = append(starts, func() error { _, err := fmt.Fprintln(in); return err })
				wg.Go(func() {
					for lines.Scan() {
						won[i] = append(won[i], lines.Text())
					}
				})
			}
			for _, start := range starts {
				if err := start(); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
			for _, cmd := range children {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
			}
			return won
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, path)
			sess := create(t, s, "s")
			for w := range windows {
				appendTo(t, s, sess, text(fmt.Sprint("a", w), ""), text(fmt.Sprint("b", w), ""))
			}
			if all := slices.Concat(compete(t, path)...); len(all) != windows {
				t.Errorf("%d records were stored over %d windows: %v", len(all), windows, all)
			}
			for query, want := range map[string]int{
				"SELECT count(*) FROM events WHERE record_id IS NOT NULL":                    windows,
				"SELECT count(DISTINCT covered_by) FROM events":                              windows,
				"SELECT count(*) FROM events WHERE record_id IS NULL AND covered_by IS NULL": 0,
				"SELECT contested FROM sessions":                                             0,
			} {
				if got := number(t, path, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		})
	}
}
