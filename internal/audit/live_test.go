package audit_test

import (
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/audit"
)

// TestAnAuditBesideAnAppFindsNothing: each look sees one moment, whatever is appended and compacted meanwhile.
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
		view, err := f.View(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(view) > 0 && o.Events > 100 && len(view) > 60 {
			t.Errorf("%d entries are seen of %d events", len(view), o.Events)
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
	if view, err := f.View(t.Context(), s); err != nil || len(view) != resp.Session.Events().Len() {
		t.Errorf("%d entries are seen at last, want %d (%v)", len(view), resp.Session.Events().Len(), err)
	}
	if _, err := f.Sessions(t.Context(), audit.Narrow{App: "other"}); err != nil {
		t.Error(err)
	}
}
