package persistence_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
)

// A row may hold a record of ADK's own compaction that the types of this ADK have no field for: this module wrote it,
// built with a later version. It is recognized, is in no view, whole or partial, and the row stays as it is.
func TestARowWithARecordOfADKsCompactionIsRecognized(t *testing.T) {
	t.Parallel()
	const extra = `{"further":{"Actions.Compaction":{"startTimestamp":"2026-01-01T00:00:00.25Z","endTimestamp":"2026-01-01T00:02:00.5Z","compactedContent":{"role":"model","parts":[{"text":"So far."}]}}}}`
	path := newPath(t)
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
	s := open(t, path)
	svc, err := compaction.NewCompactionService(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	sess := create(t, svc, "s")
	h := (&compactiontest.History{}).Turns(3, "bot").AddEvent(&session.Event{ID: "adk", InvocationID: "adk", Author: "user"}).Turns(9, "bot")
	appendTo(t, svc, sess, h.Events...)
	if err := svc.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `UPDATE events SET extra = ?, covered_by = NULL WHERE id = 'adk'`, extra); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, persistence.WithSynchronousNormal())
	if svc, err = compaction.NewCompactionService(s, cfg); err != nil {
		t.Fatal(err)
	}
	status, err := svc.Status(t.Context(), compaction.SessionRef{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: "s"})
	if err != nil || status.UnreadableRecords != 1 || len(status.Summaries) == 0 {
		t.Errorf("%v: %+v", err, status)
	}
	few, whole := active(t, s, "s"), view.Inspect(view.Collect(get(t, s, "s").Events()))
	if got, want := shown(partialView(few).Events().Slice()), shown(whole.View); !few.Partial() || !slices.Equal(got, want) || slices.ContainsFunc(got, func(of string) bool { return strings.HasPrefix(of, "adk") }) {
		t.Errorf("the view of %d events: %q\nof all: %q", len(ids(few)), got, want)
	}
	var stored string
	if err := db.QueryRowContext(t.Context(), `SELECT extra FROM events WHERE id = 'adk' AND custom_metadata IS NULL`).Scan(&stored); err != nil || stored != extra {
		t.Errorf("%v: the row has %q", err, stored)
	}
}
