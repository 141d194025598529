package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

// TestAnAuditBesideAnAppFindsNothing: each look sees one moment, whatever is appended and compacted
// meanwhile.
func TestAnAuditBesideAnAppFindsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	app := compacting(t, writing(t, path))
	sess := create(t, app, user, "order-1")
	f := open(t, path)
	done := make(chan error, 1)
	go func() {
		for _, ev := range said(60) {
			if err := app.AppendEvent(t.Context(), sess, ev); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	looks, newest := 0, int64(0)
	for running := true; running || looks < 2; looks++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		s := find(t, f, "")
		if s.Events < newest {
			t.Errorf("the session shrank from %d events to %d", newest, s.Events)
		}
		newest = s.Events
		o, err := f.Overview(t.Context(), s, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Findings) > 0 {
			t.Fatalf("after %d events: %+v", o.Events, o.Findings)
		}
		view, err := f.View(t.Context(), s, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if view.Events > 0 && o.Events > 100 && view.Events > 60 {
			t.Errorf("%d entries are seen of %d events", view.Events, o.Events)
		}
	}
	s := find(t, f, "")
	if s.Events < 240 || s.Compactions == 0 {
		t.Errorf("%d events with %d compactions after %d looks", s.Events, s.Compactions, looks)
	}
	resp, err := app.Get(t.Context(), &session.GetRequest{AppName: s.App, UserID: s.User, SessionID: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	if view, err := f.View(t.Context(), s, 0, -1); err != nil || view.Events != resp.Session.Events().Len() {
		t.Errorf("%d entries are seen at last, want %d (%v)", view.Events, resp.Session.Events().Len(), err)
	}
	if _, err := f.Sessions(t.Context(), audit.Narrow{App: "other"}); err != nil {
		t.Error(err)
	}
}

// TestASessionThatIsAlwaysAppendedToCanBeAudited: with an event between any two readings.
func TestASessionThatIsAlwaysAppendedToCanBeAudited(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	app := writing(t, path)
	sess := create(t, app, user, "order-1", said(3)...)
	f := open(t, path)
	stop, done := make(chan struct{}), make(chan error, 1)
	appended := make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			case <-appended:
			default:
			}
			appended <- n
			if err := app.AppendEvent(t.Context(), sess, text(fmt.Sprint("more", n), "more")); err != nil {
				done <- err
				return
			}
		}
	}()
	for <-appended < 20 { // it is at work
	}
	s := find(t, f, "")
	for range 5 {
		view, err := f.View(t.Context(), s, 0, -1)
		if err != nil || view.Events < 12+20 {
			t.Fatalf("%d entries are seen: %v", view.Events, err)
		}
		now, size, err := f.Size(t.Context(), s)
		if err != nil || int64(size.ViewEvents) != now.Events {
			t.Fatalf("%d events are seen of %+v: %v", size.ViewEvents, now, err)
		}
		if found, _, err := lookedAt(t, f, s); err != nil || len(found) > 0 {
			t.Fatalf("%v %v", found, err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if now := find(t, f, ""); now.Events <= s.Events {
		t.Errorf("nothing was appended meanwhile: %d events, %d before", now.Events, s.Events)
	}
}

func lookedAt(t *testing.T, f *audit.File, sessions ...*audit.Session) (found []audit.Finding, done audit.Checked, err error) {
	t.Helper()
	done, err = f.Verify(t.Context(), sessions, 5, func(one audit.Finding) error {
		found = append(found, one)
		return nil
	}, func(*audit.Session) {})
	return found, done, err
}

// TestADeletedSessionIsPassedOver, and the others are looked at.
func TestADeletedSessionIsPassedOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	app := writing(t, path)
	create(t, app, user, "a", said(1)...)
	create(t, app, user, "b", said(2)...)
	f := open(t, path)
	sessions, err := f.Sessions(t.Context(), audit.Narrow{})
	if err != nil || len(sessions) != 2 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	if err := app.Delete(t.Context(), &session.DeleteRequest{AppName: sessions[0].App, UserID: user, SessionID: "a"}); err != nil {
		t.Fatal(err)
	}
	found, done, err := lookedAt(t, f, sessions...)
	if err != nil || len(found) > 0 || done.Gone != 1 || done.Sessions != 1 || done.Events != 8 {
		t.Errorf("%v, %+v, %v", found, done, err)
	}
	if now, _, err := f.Size(t.Context(), sessions[0]); !adk.IsNotFound(err) || now != nil {
		t.Errorf("a deleted session has a size: %v", err)
	}
}

// TestAFileThatIsTakenAwayIsNoFinding: there is nothing to find anything in.
func TestAFileThatIsTakenAwayIsNoFinding(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		path := made(t, 2)
		if live {
			create(t, writing(t, path), user, "other")
		}
		f := open(t, path)
		sessions, err := f.Sessions(t.Context(), audit.Narrow{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if found, _, err := lookedAt(t, f, sessions...); !errors.Is(err, persistence.ErrWritten) || len(found) > 0 {
			t.Errorf("live %v: %v, %v", live, found, err)
		}
	}
}
