package persistence_test

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
)

// In these tests an answer arrives for a call that a handle of the compaction service did not load,
// because a summary replaces it. The view must show the call again and change in no other way.

// quiet wraps a service in a compaction service without triggers.
func quiet(t *testing.T, inner session.Service) *compaction.CompactionSessionService {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.InvocationThreshold, cfg.OverlapSize, cfg.SafetyRatio = compaction.Off, 0, compaction.Off
	cfg.Summarizer = &ct.Oracle{}
	svc, err := compaction.NewCompactionService(inner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = svc.Close(context.Background()) })
	return svc
}

func opened(t *testing.T, svc session.Service) session.Session {
	t.Helper()
	resp, err := svc.Get(t.Context(), request("s"))
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session
}

func appendThrough(t *testing.T, svc session.Service, sess session.Session, events ...*session.Event) {
	t.Helper()
	for _, ev := range events {
		if err := svc.AppendEvent(t.Context(), sess, ev); err != nil {
			t.Fatal(err)
		}
	}
}

func shownBy(sess session.Session) []string { return ct.IDs(view.Collect(sess.Events())) }

func wantShown(t *testing.T, sess session.Session, ids ...string) {
	t.Helper()
	got := shownBy(sess)
	for _, id := range ids {
		if !slices.Contains(got, id) {
			t.Errorf("%s is not shown: %v", id, got)
		}
	}
}

// called returns a session whose first turn, including a call, is summarized.
func called() *ct.History {
	return (&ct.History{}).User("i1", "q").Call("i1", "bot", "t", "a").Response("i1", "bot", "t", "r", "a").
		Agent("i1", "bot", "x").Turns(8, "bot").Compact("r1", "e1", "e2", "e3", "e4")
}

func lateAnswer() *session.Event {
	ev := (&ct.History{}).Response("i9", "user", "t", "late", "a").Last()
	ev.ID = "late"
	return ev
}

var sessionRef = compaction.SessionRef{AppName: app, UserID: user, SessionID: "s"}

func TestALateAnswerHidesNothingThatAnotherProcessSummarized(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	a, b, h := open(t, path), open(t, path), called()
	appendTo(t, a, create(t, a, "s"), h.Events...)
	svc := quiet(t, a)
	live := opened(t, svc)
	appendTo(t, b, active(t, b, "s"), h.Record("r2", "e5", "e6", "e7", "e8"))
	appendThrough(t, svc, live, lateAnswer())
	wantShown(t, live, "r1", "e2", "e3", "e5", "e6", "e7", "e8", "late")
}

func TestALateAnswerHasItsCallAfterAnotherHandleCompacted(t *testing.T) {
	t.Parallel()
	a := open(t, newPath(t))
	appendTo(t, a, create(t, a, "s"), append(called().Events, text("z", "last loaded"))...)
	svc := quiet(t, a)
	live, other := opened(t, svc), opened(t, svc)
	for _, id := range []string{"y1", "y2", "y3"} {
		ev := text(id, "more")
		ev.InvocationID = "later-" + id
		appendThrough(t, svc, other, ev)
	}
	if r, err := svc.Compact(t.Context(), sessionRef, compaction.CompactOptions{KeepRecent: 1}); err != nil || r.Skipped {
		t.Fatal(r, err)
	}
	appendThrough(t, svc, live, lateAnswer())
	wantShown(t, live, "e2", "e3", "late")
}

// meddler runs a function while a session is being loaded.
type meddler struct {
	*persistence.SQLiteSessionService
	loaded func()
}

func (m *meddler) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := m.SQLiteSessionService.GetActive(ctx, req)
	if f := m.loaded; f != nil {
		m.loaded = nil
		f()
	}
	return resp, err
}

func TestALateAnswerLosesNothingThatIsAppendedBesideIt(t *testing.T) {
	t.Parallel()
	a := open(t, newPath(t))
	appendTo(t, a, create(t, a, "s"), called().Events...)
	inner := &meddler{SQLiteSessionService: a}
	svc := quiet(t, inner)
	live := opened(t, svc)
	done := make(chan struct{})
	inner.loaded = func() {
		go func() {
			defer close(done)
			appendThrough(t, svc, live, text("beside", "x"))
		}()
	}
	appendThrough(t, svc, live, lateAnswer())
	<-done
	wantShown(t, live, "beside", "e2", "late")
}

func TestALateAnswerGoesToTheNearestCallThoughAnotherIsShown(t *testing.T) {
	t.Parallel()
	a := open(t, newPath(t))
	h := (&ct.History{}).User("i0", "q").Call("i0", "bot", "t", "a").User("i1", "q").Call("i1", "bot", "t", "a").
		Response("i1", "bot", "t", "r", "a").Turns(4, "bot").Compact("r1", "e1", "e3", "e4", "e5")
	appendTo(t, a, create(t, a, "s"), h.Events...)
	svc := quiet(t, a)
	live := opened(t, svc)
	appendThrough(t, svc, live, lateAnswer())
	if got, want := shownBy(live), ct.IDs(view.Project(view.Collect(get(t, a, "s").Events()))); !slices.Equal(got, want) {
		t.Errorf("shown are %v, want %v", got, want)
	}
}

// The service assigns an ID to such an event, and the view must know it too.
func TestEventsWithoutIDStayAndGoLikeOthers(t *testing.T) {
	t.Parallel()
	a := open(t, newPath(t))
	appendTo(t, a, create(t, a, "s"), called().Events...)
	svc := quiet(t, a)
	live := opened(t, svc)
	appendThrough(t, svc, live, text("", "no ID"))
	before := live.Events().Len()
	appendThrough(t, svc, live, lateAnswer())
	if got := live.Events().Len(); got != before+3 {
		t.Errorf("%d events are shown, then %d; want the call, its first answer and the late answer in addition", before, got)
	}
	for _, ev := range (&ct.History{}).Turns(4, "bot").Events {
		ev.ID, ev.InvocationID = "", "new-"+ev.InvocationID
		appendThrough(t, svc, live, ev)
	}
	if r, err := svc.Compact(t.Context(), sessionRef, compaction.CompactOptions{KeepRecent: 1}); err != nil || r.Skipped {
		t.Fatal(r, err)
	}
	if got, want := shownBy(live), shownBy(opened(t, svc)); !slices.Equal(got, want) {
		t.Errorf("shown are %v, to a new handle %v", got, want)
	}
}
