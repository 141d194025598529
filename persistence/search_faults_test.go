package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
	"github.com/adk-go-ext/longsession/layer/recall/index"
	"github.com/adk-go-ext/longsession/persistence"
)

// told stores so many events of different words in session "s", and returns a question that several of them answer.
func told(t testing.TB, s *persistence.SQLiteSessionService, events int) (sess session.Session, question string) {
	t.Helper()
	sess = create(t, s, "s")
	say := talk(7)
	for n := range events {
		ev := text(fmt.Sprint("e", n), say())
		ev.Timestamp = histories.Epoch.Add(time.Duration(n) * time.Minute)
		appendTo(t, s, sess, ev)
	}
	return sess, strings.Join(strings.Fields(talk(7)())[:4], " ")
}

// right fails the test unless a search finds what the index in memory finds.
func right(t testing.TB, s *persistence.SQLiteSessionService, id, question string) {
	t.Helper()
	q := index.Query{Text: question, Around: 1}
	want, err := wordsearch.NewMemory(0).Search(t.Context(), adk.SessionRef{}, slices.Collect(get(t, s, id).Events().All()), q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.SearchText(t.Context(), request(id), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 {
		t.Fatal("nothing answers the question, so the test proves nothing")
	}
	if !slices.EqualFunc(got, want, equalHits) {
		t.Errorf("found %v, want %v", idsOf(got), idsOf(want))
	}
}

// An index that somebody damaged, emptied or left half built never gives a wrong answer, and is made anew.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"no damage":           "SELECT 1",
		"emptied":             "INSERT INTO search (search) VALUES ('delete-all')",
		"newest rows missing": "DELETE FROM search WHERE rowid > 100",
		"of another version":  "UPDATE search_sessions SET version = version - 1",
		"of a newer version":  "UPDATE search_sessions SET version = version + 1",
		"without its salt":    "UPDATE search_sessions SET salt = x''",
		"data overwritten":    "UPDATE search_data SET block = randomblob(length(block)) WHERE id > 10",
		"data missing":        "DELETE FROM search_data WHERE id > 10",
		"structure lost":      "DELETE FROM search_data WHERE id = 10",
		"mark lost":           "DELETE FROM search_sessions",
		"rows left over":      "PRAGMA foreign_keys = ON; DELETE FROM search_sessions",
	} {
		for _, opened := range []bool{true, false} {
			t.Run(fmt.Sprint(name, opened), func(t *testing.T) {
				t.Parallel()
				path := newPath(t)
				s := open(t, path, persistence.WithSynchronousNormal())
				sess, question := told(t, s, 150)
				right(t, s, "s", question)
				if !opened {
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				run(damage)(t, path)
				if !opened {
					s = open(t, path, persistence.WithSynchronousNormal())
					sess = get(t, s, "s")
				}
				appendTo(t, s, sess, text("new", "something new about "+question))
				right(t, s, "s", question)
				right(t, s, "s", question)
				if n := number(t, path, "SELECT count(*) FROM search_sessions JOIN sessions ON key = session WHERE indexed_to = last_seq AND version = ?", wordsearch.AnalyzerVersion); n != 1 {
					t.Error("the index was not made anew")
				}
				if n := number(t, path, "SELECT count(*) FROM search_docsize"); n != 151 {
					t.Errorf("the index has %d events", n)
				}
				if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
					t.Fatal(err)
				}
				if n := number(t, path, leftovers); n != 0 {
					t.Errorf("%d rows are left", n)
				}
			})
		}
	}
}

// Without the tables of FTS5, searches read the events. Everything else works as ever.
func TestAFileWithoutItsIndexAnswers(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	_, question := told(t, s, 60)
	right(t, s, "s", question)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name IN ('search', 'search_words', 'events_unindexed')")(t, path)
	s = open(t, path)
	right(t, s, "s", question)
	appendTo(t, s, get(t, s, "s"), text("new", question))
	right(t, s, "s", question)
	if err := s.IndexText(t.Context(), request("s"), nil); err != nil && !strings.Contains(err.Error(), path) {
		t.Errorf("IndexText: %v", err)
	}
}

func TestAFileThatIsOnlyReadAnswers(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, s *persistence.SQLiteSessionService, question string){
		"not indexed": func(*testing.T, *persistence.SQLiteSessionService, string) {},
		"indexed":     func(t *testing.T, s *persistence.SQLiteSessionService, question string) { found(t, s, "s", question) },
		"half indexed": func(t *testing.T, s *persistence.SQLiteSessionService, question string) {
			found(t, s, "s", question)
			appendTo(t, s, get(t, s, "s"), text("new", question))
		},
		"of another version": func(t *testing.T, s *persistence.SQLiteSessionService, question string) {
			found(t, s, "s", question)
		},
		"older than the index": func(*testing.T, *persistence.SQLiteSessionService, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			_, question := told(t, s, 80)
			prepare(t, s, question)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "of another version":
				run("UPDATE search_sessions SET version = 99")(t, path)
			case "older than the index":
				run(testkit.DropSearch, "PRAGMA user_version = 3")(t, path)
			}
			same := unchanged(t, path)
			reading := open(t, path, persistence.WithReadOnly())
			right(t, reading, "s", question)
			right(t, reading, "s", question)
			if err := reading.IndexText(t.Context(), request("s"), nil); !errors.Is(err, persistence.ErrReadOnly) {
				t.Errorf("IndexText: %v", err)
			}
			if _, err := reading.SearchText(t.Context(), request("other"), index.Query{Text: question}); !adk.IsNotFound(err) {
				t.Errorf("a missing session: %v", err)
			}
			if err := reading.Close(); err != nil {
				t.Fatal(err)
			}
			same()
		})
	}
}

func TestAFullDiskDoesNotKeepASearchFromAnswering(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := small(t, path, 120)
	sess, question := told(t, s, 150)
	var full error
	for n := 0; full == nil; n++ {
		full = s.AppendEvent(t.Context(), sess, text(fmt.Sprint("big", n), strings.Repeat("much ", 800)))
	}
	for n := 0; n < 20; n++ {
		_ = s.AppendEvent(t.Context(), sess, text(fmt.Sprint("small", n), question))
	}
	err := s.IndexText(t.Context(), request("s"), nil)
	if err != nil && !strings.Contains(err.Error(), "free space") {
		t.Errorf("IndexText: %v", err)
	}
	before := get(t, s, "s").Events().Len()
	right(t, s, "s", question)
	if n := number(t, path, "SELECT count(*) FROM search_sessions JOIN sessions ON key = session WHERE indexed_to = last_seq"); n != 0 {
		t.Fatal("there was room for the index, so the test proves nothing")
	}
	if got := get(t, s, "s").Events().Len(); got != before {
		t.Errorf("%d events, before the search %d", got, before)
	}
	if n := number(t, path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"); n != 0 {
		t.Error("the file is damaged")
	}
}

func TestALockedFileDoesNotKeepASearchFromAnswering(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path, persistence.WithBusyTimeout(10*time.Millisecond))
	_, question := told(t, s, 70)
	unlock := lock(t, path)
	right(t, s, "s", question)
	if err := s.IndexText(t.Context(), request("s"), nil); err != nil {
		t.Errorf("IndexText of a session without covered events: %v", err)
	}
	unlock()
	right(t, s, "s", question)
	if n := number(t, path, "SELECT count(*) FROM search_sessions"); n != 1 {
		t.Error("the session is not indexed after the lock was released")
	}
}

// asOfVersion4 leaves a file as a version left it whose index had no table search_terms.
var asOfVersion4 = []string{
	"DROP TRIGGER events_unindexed", "DROP TABLE search_terms",
	"CREATE TRIGGER events_unindexed AFTER DELETE ON events BEGIN DELETE FROM search WHERE rowid = old.key; END",
	"PRAGMA user_version = 4",
}

// The index of a file of the version before is made anew by the first search, and not needed for reading only.
func TestAnIndexOfTheSchemaBeforeIsMadeAnew(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	_, question := told(t, s, 80)
	right(t, s, "s", question)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run(asOfVersion4...)(t, path)
	reading := open(t, path, persistence.WithReadOnly())
	right(t, reading, "s", question)
	if err := reading.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	right(t, s, "s", question)
	if n := number(t, path, "SELECT count(*) FROM search_terms"); n != 80 {
		t.Errorf("search_terms has %d events, want 80", n)
	}
	if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if n := number(t, path, "SELECT count(*) FROM search_terms"); n != 0 {
		t.Errorf("search_terms has %d events of the deleted session", n)
	}
}

// A row that cannot be decoded is passed over: beside a hit, as the best hit, and without the index of the file.
func TestASearchPassesOverARowThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]string{
		"with the index":    {"UPDATE events SET content = '{' WHERE seq IN (3, 6)"},
		"without the index": {"UPDATE events SET content = '{' WHERE seq IN (3, 6)", "DROP TABLE search_sessions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			sess := create(t, s, "s")
			for n, say := range []string{"zero", "one", "two", "the lighthouse is here", "four", "lighthouse lighthouse", "six"} {
				appendTo(t, s, sess, text(fmt.Sprint(n), say))
			}
			found(t, s, "s", "lighthouse")
			run(damage...)(t, path)
			hits, err := s.SearchText(t.Context(), request("s"), index.Query{Text: "lighthouse", Around: 1})
			if err != nil {
				t.Fatal(err)
			}
			// The index still has the words of the damaged rows, so their neighbors may be hits, too.
			if len(hits) == 0 || hits[0].Event.ID != "3" || hits[0].Position != 3 || slices.Contains(idsOf(hits), "5") {
				t.Fatalf("found %v", idsOf(hits))
			}
			if h := hits[0]; len(h.Before) != 1 || h.Before[0].Event.ID != "1" || h.Before[0].Position != 1 || len(h.After) != 1 || h.After[0].Event.ID != "4" {
				t.Errorf("beside it: %v and %v", h.Before, h.After)
			}
		})
	}
}

// indexing is the name of a child that indexes session "s" by searching it.
const indexing = "indexing"

func indexAndSearch(path, question string) (err error) {
	s, err := persistence.NewSQLiteSessionService(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	hits, err := s.SearchText(context.Background(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s"}, index.Query{Text: question})
	fmt.Println(idsOf(hits))
	return err
}

// Several services and processes index one session at once. All find the same, and the index has each event once.
func TestManyIndexASessionAtOnce(t *testing.T) {
	t.Parallel()
	for kind, search := range map[string]func(t *testing.T, path, question string) (string, error){
		"services": func(t *testing.T, path, question string) (string, error) {
			s, err := persistence.NewSQLiteSessionService(path)
			if err != nil {
				return "", err
			}
			hits, err := s.SearchText(context.Background(), request("s"), index.Query{Text: question})
			return fmt.Sprint(idsOf(hits)), errors.Join(err, s.Close())
		},
		"processes": func(t *testing.T, path, question string) (string, error) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childEnv+"="+fmt.Sprintf("%s\n%s\n%s", path, indexing, question))
			out, err := cmd.CombinedOutput()
			return strings.TrimSpace(string(out)), err
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path, persistence.WithSynchronousNormal())
			_, question := told(t, s, 500)
			var wg sync.WaitGroup
			results := make([]string, 4)
			for i := range results {
				wg.Go(func() {
					var err error
					if results[i], err = search(t, path, question); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			want := fmt.Sprint(found(t, s, "s", question))
			for _, got := range results {
				if got != want {
					t.Errorf("found %s, want %s", got, want)
				}
			}
			right(t, s, "s", question)
			for query, want := range map[string]int{
				"SELECT count(*) FROM search_docsize":           500,
				"SELECT documents FROM search_sessions":         500,
				"SELECT sum(length) FROM search_episodes":       number(t, path, "SELECT length FROM search_sessions"),
				"SELECT count(*) FROM search_turns":             number(t, path, "SELECT turns FROM search_sessions"),
				"SELECT count(*) FROM pragma_foreign_key_check": 0,
			} {
				if got := number(t, path, query); got != want {
					t.Errorf("%s: %d, want %d", query, got, want)
				}
			}
		})
	}
}

// A session that is deleted while it is searched is found whole or not at all, and a new one of its name is new.
func TestASessionIsDeletedWhileItIsSearched(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	var question string
	for round := range 4 {
		_, question = told(t, s, 300)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for {
					hits, err := s.SearchText(context.Background(), request("s"), index.Query{Text: question})
					if adk.IsNotFound(err) {
						return
					}
					if err != nil || len(hits) == 0 {
						t.Errorf("round %d: %d hits, %v", round, len(hits), err)
						return
					}
				}
			})
		}
		if err := s.Delete(context.Background(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: "s"}); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
	appendTo(t, s, create(t, s, "s"), text("only", "this is another session"))
	if got := found(t, s, "s", question); len(got) != 0 {
		t.Errorf("the new session has %v", got)
	}
}
