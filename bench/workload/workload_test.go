package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/record"
)

// faulty drops or rejects every second append.
type faulty struct {
	session.Service
	refuse bool
	n      int
}

func (f *faulty) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	f.n++
	switch {
	case f.n%2 == 1:
		return f.Service.AppendEvent(ctx, sess, ev)
	case f.refuse:
		return errors.New("database is locked")
	default:
		return nil
	}
}

func TestAnAppendThatWasAcknowledgedAndLostIsNoticed(t *testing.T) {
	t.Parallel()
	_, err := appendFor(t.Context(), &faulty{Service: session.InMemoryService()}, Job{Writers: 1, For: 5 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "appends succeeded") {
		t.Errorf("error %v", err)
	}
}

func TestFailedAppendsAreCountedApart(t *testing.T) {
	t.Parallel()
	got, err := appendFor(t.Context(), &faulty{Service: session.InMemoryService(), refuse: true}, Job{Writers: 1, For: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got.Appended == 0 || got.Appended-got.Failed > 1 || got.Appended < got.Failed || got.FirstFailure != "database is locked" {
		t.Errorf("%d stored, %d failed, first failure %q", got.Appended, got.Failed, got.FirstFailure)
	}
}

// A compacted session of any length has a short view.
func TestACompactedSessionShowsLittle(t *testing.T) {
	t.Parallel()
	for events, want := range map[int]int{100: 4, 2000: summaries} {
		svc := session.InMemoryService()
		if _, err := fill(t.Context(), svc, Job{Task: Compact, Events: events}); err != nil {
			t.Fatal(err)
		}
		sess, err := stored(t.Context(), svc, sessionID(0))
		if err != nil {
			t.Fatal(err)
		}
		var all []*session.Event
		records := 0
		for ev := range sess.Events().All() {
			all = append(all, ev)
			if record.Is(ev) {
				records++
			}
		}
		view := filtered.Project(all)
		if err := compactiontest.Check(all, view); err != nil {
			t.Error(err)
		}
		covered := events/perTurn - recent
		if len(all)-records != events || records != covered/window {
			t.Errorf("%d events and %d records, want %d and %d", len(all)-records, records, events, covered/window)
		}
		if len(view) != want+recent*perTurn {
			t.Errorf("%d events: the view has %d, want %d summaries and %d turns", events, len(view), want, recent)
		}
	}
}

func TestAProgramDoesOneJob(t *testing.T) {
	t.Parallel()
	open := func(context.Context, Job) (session.Service, func() error, error) {
		return session.InMemoryService(), func() error { return nil }, nil
	}
	for arg, want := range map[string]int{`{"Task":"fill","Events":4}`: 0, `{"Task":"nap"}`: 1, `{`: 2} {
		var stdout, stderr bytes.Buffer
		if code := Main(t.Context(), []string{arg}, &stdout, &stderr, open); code != want || (code != 0) != (stderr.Len() > 0) {
			t.Errorf("%s: exit code %d, want %d; stderr %q", arg, code, want, stderr.String())
		}
		var got Result
		if want == 0 && (json.Unmarshal(stdout.Bytes(), &got) != nil || got.Appended != 4 || got.EventBytes == 0) {
			t.Errorf("%s: printed %s", arg, stdout.String())
		}
	}
}
