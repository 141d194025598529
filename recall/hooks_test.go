package recall_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/recall"
)

// A function of the app that panics costs a search, and no turn.
func TestAFilterOrARedactionThatPanicsIsAnError(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]recall.Config{
		"Filter": {Filter: func(*session.Event) bool { panic("no") }},
		"Redact": {Redact: func(string) string { panic("no") }},
	} {
		svc := service(t)
		store(t, svc, ref, long()...)
		r := recaller(t, svc, cfg)
		if found, err := r.Search(t.Context(), ref, recall.Query{Text: "passport", Shown: true}); err == nil || !strings.Contains(err.Error(), "panic: no") || len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if _, err := r.Turn(t.Context(), ref, "", "m1"); err == nil || !strings.Contains(err.Error(), "panic: no") {
			t.Errorf("%s: the turn: %v", name, err)
		}
	}
}

// The index in memory forgets a session that is deleted.
func TestADeletedSessionIsForgotten(t *testing.T) {
	t.Parallel()
	svc := service(t)
	store(t, svc, ref, long()...)
	var sizes []int
	r := recaller(t, svc, recall.Config{Observer: recall.ObserverFunc(func(_ context.Context, o recall.Observation) { sizes = append(sizes, o.IndexBytes) })})
	find := func() error {
		_, err := r.Search(t.Context(), ref, recall.Query{Text: "passport", Shown: true})
		return err
	}
	if err := find(); err != nil {
		t.Fatal(err)
	}
	if err := svc.Delete(t.Context(), &session.DeleteRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	if err := find(); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0] == 0 || sizes[1] != 0 {
		t.Errorf("the index had %d bytes", sizes)
	}
}
