package persistence_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// chained returns the chains of a file and their links, by session.
func chained(t testing.TB, path string) (chains []sessionfile.Chain, links map[string][]sessionfile.Link) {
	t.Helper()
	s := open(t, path, persistence.WithReadOnly())
	links = map[string][]sessionfile.Link{}
	err := s.Snapshot(context.Background(), func(snap *persistence.Snapshot) (err error) {
		if chains, err = sessionfile.Chains(context.Background(), snap); err != nil {
			return err
		}
		for _, c := range chains {
			for link, err := range c.Links(context.Background(), snap) {
				if err != nil {
					return err
				}
				links[c.Session] = append(links[c.Session], link)
			}
		}
		return nil
	})
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return chains, links
}

// checkChains fails the test unless every digest of a file matches, and returns the number of
// events.
func checkChains(t testing.TB, path string) (events int) {
	t.Helper()
	chains, links := chained(t, path)
	for _, c := range chains {
		all := links[c.Session]
		if int64(len(all)) != c.Events {
			t.Errorf("session %s has %d links and %d events", c.Session, len(all), c.Events)
		}
		for _, l := range all {
			if !l.Fits && l.Seq > c.Undigested || string(l.Stored) != string(l.Digest[:]) && l.Stored != nil {
				t.Errorf("session %s event %d (%s): stored %x, recomputed %s", c.Session, l.Seq, l.ID, l.Stored, l.Digest)
			}
		}
		if n := len(all); n > 0 && c.Head != nil && *c.Head != all[n-1].Digest {
			t.Errorf("session %s: the head is %s, recomputed %s", c.Session, c.Head, all[n-1].Digest)
		}
		events += len(all)
	}
	return events
}

// oddEvents have fields that are empty, missing, invalid UTF-8 or contain NUL.
func oddEvents() []*session.Event {
	bare := &session.Event{ID: "bare"}
	odd := text("\xff\x00id", "a\x00b\u2028")
	odd.Author, odd.Branch, odd.InvocationID = "", "\xfe", ""
	return []*session.Event{bare, odd, text("plain", "")}
}

func TestEveryEventIsChainedToTheOneBefore(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, other := open(t, path), open(t, path, persistence.WithSynchronousNormal())
	sess := create(t, s, "s")
	appendTo(t, s, sess, oddEvents()...)
	// Handles of two services alternate, so that each service's cached head becomes outdated.
	for i := range 5 {
		appendTo(t, s, sess, text(fmt.Sprint("a", i), ""))
		appendTo(t, other, get(t, other, "s"), text(fmt.Sprint("b", i), ""))
		if err := other.AppendEvent(t.Context(), get(t, other, "s"), text("plain", "")); !errors.Is(err, persistence.ErrEventExists) {
			t.Fatal(err)
		}
		if err := s.AppendRecord(t.Context(), sess, recordOver(t, fmt.Sprint("r", i), fmt.Sprint("a", i))); err != nil {
			t.Fatal(err)
		}
		if err := s.AppendRecord(t.Context(), sess, recordOver(t, fmt.Sprint("no", i), fmt.Sprint("a", i))); !isSuperseded(err) {
			t.Fatal(err)
		}
	}
	create(t, s, "empty")
	if n := checkChains(t, path); n != 3+15 {
		t.Errorf("%d events", n)
	}
}

// Some writes of one transaction fail, and the chain continues with the remaining ones.
func TestTheChainHoldsWhereWritesOfABatchFail(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("taken", ""))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 20 {
				ev := text(fmt.Sprint(g, "/", n), "")
				if n%3 == 0 {
					ev.ID = "taken"
				}
				if err := s.AppendEvent(context.Background(), sess, ev); (err != nil) != (ev.ID == "taken") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := checkChains(t, path); n != 1+8*13 {
		t.Errorf("%d events", n)
	}
}

// old creates a file with the first version of the schema and the content of a current file.
func old(t testing.TB, today string) (path string) {
	t.Helper()
	script, err := os.ReadFile("../internal/sessionfile/migrations/0001_sessions.sql")
	if err != nil {
		t.Fatal(err)
	}
	path = today + ".old"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	const events = "key, session, seq, id, time, invocation_id, author, branch, record_id, covered_by, unit, anchor, content, actions, usage_metadata, custom_metadata, long_running_tool_ids, extra"
	const sessions = "key, app, user, id, created_at, updated_at, last_seq, last_user, last_agent, contested"
	for _, statement := range []string{
		"PRAGMA journal_mode = WAL", string(script), "PRAGMA application_id = 1280525651", "PRAGMA user_version = 1",
		"ATTACH '" + today + "' AS today",
		"INSERT INTO sessions (" + sessions + ") SELECT " + sessions + " FROM today.sessions",
		"INSERT INTO events (" + events + ") SELECT " + events + " FROM today.events",
		"INSERT INTO calls SELECT * FROM today.calls", "INSERT INTO invocations SELECT * FROM today.invocations",
		"DETACH today",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return path
}

func TestAnOldFileIsChainedWithoutRewritingItsEvents(t *testing.T) {
	t.Parallel()
	today := newPath(t)
	s := open(t, today)
	h := (&ct.History{}).Turns(500, "bot").Compact("r1", "e1", "e2", "e3")
	appendTo(t, s, create(t, s, "s"), h.Events...)
	appendTo(t, s, create(t, s, "idle"), text("1", "one"), text("2", "two"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := old(t, today)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := persistence.NewSQLiteSessionService(path, persistence.WithReadOnly()); !errors.Is(err, persistence.ErrOlderSchema) {
		t.Errorf("for reading: %v", err)
	}
	migrated := open(t, path)
	sess := get(t, migrated, "s")
	if err := migrated.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	rewritten := 0
	for at := 0; at+page <= len(before); at += page {
		if !bytes.Equal(before[at:at+page], after[at:at+page]) {
			rewritten++
		}
	}
	// The pages are the header with the schema, which takes a few, and the page of the sessions.
	if pages := len(before) / page; pages < 40 || rewritten > 8 {
		t.Errorf("opening an old file wrote to %d of its %d pages", rewritten, pages)
	}
	if sess.Events().Len() != len(h.Events) {
		t.Errorf("%d events after the migration, %d before", sess.Events().Len(), len(h.Events))
	}
	s = open(t, path)
	appendTo(t, s, get(t, s, "s"), text("new1", ""), text("new2", ""))
	chains, links := chained(t, path)
	if i := slices.IndexFunc(chains, func(c sessionfile.Chain) bool { return c.Session == "idle" }); chains[i].Head != nil || chains[i].Undigested != 2 {
		t.Errorf("a session without appends: %+v", chains[i])
	}
	if i := slices.IndexFunc(chains, func(c sessionfile.Chain) bool { return c.Session == "s" }); chains[i].Undigested != int64(len(h.Events)) {
		t.Errorf("a session with later appends: %+v", chains[i])
	}
	checkChains(t, path)
	want := links["s"]
	// The new digests also protect the old rows.
	changed(t, path, "UPDATE events SET content = replace(content, 'a', 'b') WHERE id = 'e5'")
	_, links = chained(t, path)
	for i, l := range links["s"] {
		if (l.Digest == want[i].Digest) != (i < 4) {
			t.Errorf("event %d: %s, before the change %s", l.Seq, l.Digest, want[i].Digest)
		}
		if l.Stored != nil && l.Fits != (l.ID == "new2") {
			t.Errorf("event %s fits: %v", l.ID, l.Fits)
		}
	}
	err = open(t, path, persistence.WithReadOnly()).Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		differences, err := sessionfile.Differences(t.Context(), snap)
		if len(differences) > 0 {
			t.Errorf("the schema of a migrated file: %+v", differences)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatIsDoneToRowsDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement string
		misfits   []string // of session/event
	}{
		"text":          {"UPDATE events SET content = '{}' WHERE id = 'a3'", []string{"a/a3"}},
		"author":        {"UPDATE events SET author = 'user ' WHERE id = 'a3'", []string{"a/a3"}},
		"null to empty": {"UPDATE events SET extra = '' WHERE id = 'a3'", []string{"a/a3"}},
		"deleted":       {"DELETE FROM events WHERE id = 'a3'", []string{"a/a4"}},
		"swapped":       {"UPDATE events SET seq = CASE id WHEN 'a3' THEN -4 ELSE -3 END WHERE id IN ('a3', 'a4'); UPDATE events SET seq = -seq WHERE seq < 0", []string{"a/a4", "a/a3", "a/a5"}},
		"moved":         {"UPDATE events SET session = -session; UPDATE events SET session = CASE session WHEN -1 THEN 2 ELSE 1 END", []string{"a/b1", "b/a1"}},
		"renamed":       {"UPDATE sessions SET user = 'eve' WHERE id = 'a'", []string{"a/a1"}},
		"created":       {"UPDATE sessions SET created_at = updated_at WHERE id = 'a'", []string{"a/a1"}},
		"digest":        {"UPDATE events SET digest = zeroblob(32) WHERE id = 'a3'", []string{"a/a3", "a/a4"}},
		"digest gone":   {"UPDATE events SET digest = NULL WHERE id = 'a5'", []string{"a/a5"}},
		"marks":         {"UPDATE events SET covered_by = 'r', unit = 7, anchor = 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := open(t, path)
			for _, id := range []string{"a", "b"} {
				sess := create(t, s, id)
				for n := 1; n <= 5; n++ {
					appendTo(t, s, sess, text(fmt.Sprint(id, n), "says"))
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			checkChains(t, path)
			changed(t, path, "PRAGMA foreign_keys = OFF", c.statement)
			chains, links := chained(t, path)
			var misfits []string
			for _, chain := range chains {
				for _, l := range links[chain.Session] {
					if !l.Fits {
						misfits = append(misfits, chain.Session+"/"+l.ID)
					}
				}
			}
			slices.Sort(misfits)
			slices.Sort(c.misfits)
			if !slices.Equal(misfits, c.misfits) {
				t.Errorf("these do not fit: %v, want %v", misfits, c.misfits)
			}
		})
	}
}

// If somebody removes digests, the next append does not silently restore them.
func TestTheChainGoesOnWhereDigestsWereTakenAway(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := open(t, path)
	appendTo(t, s, create(t, s, "s"), text("1", ""), text("2", ""))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	changed(t, path, "UPDATE events SET digest = NULL")
	s = open(t, path)
	appendTo(t, s, get(t, s, "s"), text("3", ""))
	chains, links := chained(t, path)
	if l := links["s"]; chains[0].Undigested != 0 || l[0].Fits || l[1].Fits || !l[2].Fits {
		t.Errorf("undigested %d, %v %v %v", chains[0].Undigested, l[0].Fits, l[1].Fits, l[2].Fits)
	}
}

func TestAFileHasAnIdentityOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2 {
		path := newPath(t)
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s := open(t, path, persistence.WithReadOnly())
			err := s.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
				id, err := sessionfile.Identity(t.Context(), snap)
				seen[id] = len(id) == 32
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("two files have the identities %v", seen)
	}
}

// A Python interpreter runs the script of docs/schema.md on a file that this package wrote.
func TestTheScriptInTheDocumentRecomputesTheDigests(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: ", err)
	}
	script := regexp.MustCompile("(?ms)^```python\n(.*?)^```$").FindStringSubmatch(readDocument(t))
	path := newPath(t)
	s := open(t, path)
	sess := create(t, s, "s")
	appendTo(t, s, sess, oddEvents()...)
	appendTo(t, s, sess, text("e", "été \x00 🎈"), recordOver(t, "r", "e"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	chains, _ := chained(t, path)
	for _, want := range []string{chains[0].Head.String() + " fine app/user/s", "CHANGED"} {
		out, err := exec.Command(python, "-c", script[1], path).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("the script prints %s (%v), want %s", out, err, want)
		}
		changed(t, path, "UPDATE events SET branch = 'x' WHERE id = 'e'")
	}
}
