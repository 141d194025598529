package persistence

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

var errOnPurpose = errors.New("on purpose")

// batchOf opens a service with one session, and returns writes of events that are not yet queued.
func batchOf(t *testing.T, events ...string) (*SQLiteSessionService, *storedSession, []*write) {
	t.Helper()
	s, err := NewSQLiteSessionService(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	resp, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	handle := resp.Session.(*storedSession)
	var batch []*write
	for _, id := range events {
		ev := &session.Event{ID: id}
		r, err := eventrow.Encode(ev)
		if err != nil {
			t.Fatal(err)
		}
		values, err := stateValues(map[string]any{"last": id})
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, &write{
			ctx: context.Background(), done: make(chan error, 1),
			run:       func(w *writer) error { return w.append(handle, &r, values) },
			committed: func() { handle.appended(ev, nil) },
		})
	}
	return s, handle, batch
}

// storeTogether makes the writer store a batch in one transaction: the batch waits in the queue
// until the write before it is done.
func storeTogether(t *testing.T, s *SQLiteSessionService, batch []*write) {
	t.Helper()
	begun, release := make(chan struct{}), make(chan struct{})
	before := &write{ctx: t.Context(), done: make(chan error, 1), run: func(*writer) error {
		close(begun)
		<-release
		return nil
	}}
	s.queue <- before
	<-begun
	for _, w := range batch {
		s.queue <- w
	}
	close(release)
	if err := <-before.done; err != nil {
		t.Fatal(err)
	}
}

func storedIDs(t *testing.T, s *SQLiteSessionService) (ids []string) {
	t.Helper()
	resp, err := s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	for ev := range resp.Session.Events().All() {
		ids = append(ids, ev.ID)
	}
	return ids
}

// A failed write does not affect the other writes of its transaction, and its own partial changes
// are undone.
func TestAFailedWriteLeavesTheOthersOfItsTransactionAlone(t *testing.T) {
	t.Parallel()
	s, handle, batch := batchOf(t, "a", "a", "half", "given up", "b")
	half := batch[2].run
	batch[2].run = func(w *writer) error { return errors.Join(half(w), errOnPurpose) }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	batch[3].ctx = ctx
	answers := make([]chan error, len(batch))
	for i, w := range batch {
		answers[i] = w.done
	}
	begun := 0
	for _, w := range batch {
		run := w.run
		w.run = func(w *writer) error { begun++; return run(w) }
	}
	storeTogether(t, s, batch)
	for i, want := range []error{nil, ErrEventExists, errOnPurpose, context.Canceled, nil} {
		if err := <-answers[i]; !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	if begun != 4 {
		t.Errorf("%d writes run, want each of 4 once", begun)
	}
	if got := storedIDs(t, s); len(got) != 2 || got[0] != "a" || got[1] != "b" || handle.Events().Len() != 2 {
		t.Errorf("stored %v, %d in the handle", got, handle.Events().Len())
	}
}

// SQLite aborts the whole transaction on some errors. The writer then repeats the writes one by
// one.
func TestALostTransactionIsDoneAgainOneByOne(t *testing.T) {
	t.Parallel()
	s, handle, batch := batchOf(t, "a", "breaks", "b")
	batch[1].run = func(w *writer) error { w.undo(); return errOnPurpose }
	answers := []chan error{batch[0].done, batch[1].done, batch[2].done}
	storeTogether(t, s, batch)
	for i, want := range []error{nil, errOnPurpose, nil} {
		if err := <-answers[i]; !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	if got := storedIDs(t, s); len(got) != 2 || handle.Events().Len() != 2 {
		t.Errorf("stored %v, %d in the handle", got, handle.Events().Len())
	}
}

// synchronous is a setting of the writing connection.
func TestACommitWaitsForTheDiskUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for want, opts := range map[int][]Option{2: nil, 1: {WithSynchronousNormal()}} {
		s, err := NewSQLiteSessionService(filepath.Join(t.TempDir(), "x.db"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		var got int
		if err := s.writer.Conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&got); err != nil || got != want {
			t.Errorf("synchronous is %d, want %d: %v", got, want, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
