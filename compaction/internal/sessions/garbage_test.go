package sessions

import (
	"fmt"
	"runtime"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// collected runs the garbage collector until a condition holds, a bounded number of times: cleanups
// run some time after a collection, in a goroutine of their own.
func collected(condition func() bool) bool {
	for range 500 {
		runtime.GC()
		if condition() {
			return true
		}
		runtime.Gosched()
	}
	return false
}

func twoHandles(t *testing.T) (known *Sessions, one, other *Handle) {
	t.Helper()
	inner, ref := session.InMemoryService(), adk.SessionRef{AppName: "app", UserID: "user", SessionID: "s"}
	if _, err := inner.Create(t.Context(), &session.CreateRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID}); err != nil {
		t.Fatal(err)
	}
	known = New(inner, nil, Hooks{})
	for _, h := range []**Handle{&one, &other} {
		var err error
		if *h, err = known.Handle(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	return known, one, other
}

func unread(n *news) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.records)
}

// TestRecordsAreForgottenOnceAllHaveSeenThem: a process that runs for weeks must not keep what
// every handle has seen, or what only handles long gone had still to see.
func TestRecordsAreForgottenOnceAllHaveSeenThem(t *testing.T) {
	t.Parallel()
	_, reader, old := twoHandles(t)
	st := reader.State
	for range 3 {
		st.Publish(session.NewEventWithContext(t.Context(), "i"))
	}
	reader.Events()
	if n := unread(&st.news); n != 3 {
		t.Errorf("%d records are kept for the handle that has not read them, want 3", n)
	}
	old.Events()
	if n := unread(&st.news); n != 0 {
		t.Errorf("%d records are kept though every handle has seen them", n)
	}
	st.Publish(session.NewEventWithContext(t.Context(), "i"))
	reader.Events()
	if n := unread(&st.news); n != 1 {
		t.Errorf("%d records are kept for the handle that has not read them, want 1", n)
	}
	runtime.KeepAlive(old)
	old = nil
	if !collected(func() bool { return unread(&st.news) == 0 }) {
		t.Errorf("%d records are kept for a handle that is gone", unread(&st.news))
	}
	runtime.KeepAlive(reader)
}

// TestIdleSessionsLeaveNoState: one state for each session ever seen would be a leak.
func TestIdleSessionsLeaveNoState(t *testing.T) {
	t.Parallel()
	known, one, _ := twoHandles(t)
	for i := range 300 {
		known.Of(adk.SessionRef{SessionID: fmt.Sprint(i)})
	}
	count := func() int {
		known.known.mu.Lock()
		defer known.known.mu.Unlock()
		return len(known.known.byRef)
	}
	if !collected(func() bool { return count() == 1 }) {
		t.Errorf("%d states are kept, want that of the session that somebody holds", count())
	}
	runtime.KeepAlive(one)
}
