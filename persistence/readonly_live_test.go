package persistence_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

func TestAFileThatAnAppWritesToCanBeReadAndIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	writing := open(t, path)
	sess := create(t, writing, "s")
	appendTo(t, writing, sess, text("e1", "one"))
	same := unchanged(t, path)
	reading := open(t, path, persistence.WithReadOnly())
	if got := ids(get(t, reading, "s")); !slices.Equal(got, []string{"e1"}) {
		t.Errorf("read %v", got)
	}
	if err := reading.Close(); err != nil {
		t.Error(err)
	}
	same()
	reading = open(t, path, persistence.WithReadOnly())
	err := reading.Snapshot(t.Context(), func(snap *persistence.Snapshot) error {
		for range 2 {
			n := 0
			for _, err := range sessionfile.Rows(t.Context(), snap, 1, 1, -1) {
				if err != nil {
					return err
				}
				n++
			}
			if n != 1 {
				t.Errorf("a snapshot shows %d events, want those at its beginning", n)
			}
			appendTo(t, writing, sess, text("later"+time.Now().String(), "two"))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if got := ids(get(t, reading, "s")); len(got) != 3 {
		t.Errorf("a new read returns %d events, want 3", len(got))
	}
}

func TestAnotherProcessIsReadWhileItWrites(t *testing.T) {
	t.Parallel()
	path := closed(t, &ct.History{})
	p := startChild(t, path, "c", 0)
	done := make(chan error, 1)
	acknowledged := p.acknowledged(10)
	go func() { p.acknowledged(0); done <- p.cmd.Wait() }()
	s := open(t, path, persistence.WithReadOnly())
	got := ids(get(t, s, "s"))
	for _, id := range acknowledged {
		if !slices.Contains(got, id) {
			t.Errorf("%s was acknowledged and is missing from the read", id)
		}
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := folder(t, path)
	if len(before[path+"-wal"]) == 0 {
		t.Fatal("the killed process left no -wal, which this test needs")
	}
	if n := len(ids(get(t, open(t, path, persistence.WithReadOnly()), "s"))); n < len(got) {
		t.Errorf("%d events are read after the kill, %d before", n, len(got))
	}
	after := folder(t, path)
	for _, file := range []string{path, path + "-wal"} {
		if !bytes.Equal(before[file], after[file]) {
			t.Errorf("%s has changed", file)
		}
	}
}

func TestWritingWhileAnImmutableFileIsReadIsNoticed(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(4, "bot"))
	reading := open(t, path, persistence.WithReadOnly())
	get(t, reading, "s")
	writing := open(t, path)
	appendTo(t, writing, get(t, writing, "s"), text("late", "more"))
	if err := writing.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := reading.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
	if !errors.Is(err, persistence.ErrWritten) || !strings.Contains(err.Error(), "open it again") || !strings.Contains(err.Error(), path) {
		t.Errorf("reading says %v", err)
	}
	if got := ids(get(t, open(t, path, persistence.WithReadOnly()), "s")); len(got) != 9 {
		t.Errorf("reopened, it has %d events", len(got))
	}
}

// Until a checkpoint, the file itself does not change.
func TestWritingBesideAnImmutableFileIsNoticed(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(4, "bot"))
	reading := open(t, path, persistence.WithReadOnly())
	get(t, reading, "s")
	writing := open(t, path)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, writing, get(t, writing, "s"), text("late", "more"))
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size() {
		t.Fatalf("the file itself changed (%v), but this test needs a change next to it", err)
	}
	again := open(t, path)
	if n := len(ids(get(t, again, "s"))); n != 9 {
		t.Fatalf("%d events are stored", n)
	}
	for range 2 {
		_, err = reading.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s"})
		if !errors.Is(err, persistence.ErrWritten) || !strings.Contains(err.Error(), "open it again") {
			t.Errorf("reading says %v", err)
		}
	}
}

// A program that only reads does not end a running read, although SQLite creates an empty -wal for
// it.
func TestSomebodyWhoOnlyLooksDisturbsNoReading(t *testing.T) {
	t.Parallel()
	path := closed(t, (&ct.History{}).Turns(4, "bot"))
	reading := open(t, path, persistence.WithReadOnly())
	writeFile(t, path+"-wal", "")
	if n := len(ids(get(t, reading, "s"))); n != 8 {
		t.Errorf("%d events", n)
	}
}

// A removed file cannot be read anymore, even while an app is using it: the data that SQLite still
// has open is not the state of the file at that path.
func TestAFileThatIsTakenAwayIsNoReading(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		path := closed(t, (&ct.History{}).Turns(4, "bot"))
		if live {
			writing := open(t, path)
			appendTo(t, writing, get(t, writing, "s"), text("late", "more"))
		}
		reading := open(t, path, persistence.WithReadOnly())
		get(t, reading, "s")
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		err := reading.Snapshot(t.Context(), func(*persistence.Snapshot) error { return nil })
		if !errors.Is(err, persistence.ErrWritten) || !strings.Contains(err.Error(), path) {
			t.Errorf("live %v: reading returns %v", live, err)
		}
	}
}
