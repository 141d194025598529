package sessions

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

type eventList []*session.Event

func (l eventList) All() iter.Seq[*session.Event] { return slices.Values(l) }
func (l eventList) Len() int                      { return len(l) }
func (l eventList) At(i int) *session.Event       { return l[i] }

func TestAViewStartsFromTheLastOneWhereTheBackendSharesEvents(t *testing.T) {
	t.Parallel()
	ref := adk.SessionRef{SessionID: "s"}
	shared := eventList((&ct.History{}).Turns(5, "bot").Events)
	b := newViewCache(view.Options{})
	for i, want := range []int{0, 10, 10} {
		b.view(ref, shared, nil)
		if got := b.get(ref).len(); got != want {
			t.Errorf("after Get %d %d events are kept, want %d", i+1, got, want)
		}
	}
	if b.events != 10 {
		t.Errorf("%d events are counted, want 10", b.events)
	}
	anew := eventList((&ct.History{}).Turns(5, "bot").Events)
	if b.view(ref, anew, nil).Events().At(0) != anew[0] || b.get(ref).base != nil || b.events != 0 {
		t.Error("events that were read anew are kept")
	}
}

// Idle sessions cost nothing, or thousands of them would hold what nobody reads.
func TestFewSessionsAreKept(t *testing.T) {
	t.Parallel()
	b := newViewCache(view.Options{})
	events := eventList((&ct.History{}).Turns(5, "bot").Events)
	for n := range 10_000 {
		ref := adk.SessionRef{SessionID: fmt.Sprint(n)}
		b.view(ref, events, nil)
		b.view(ref, events, nil)
	}
	if n := b.byRef.Len(); n != maxCached || b.events != maxCached*len(events) {
		t.Errorf("%d sessions with %d events are kept", n, b.events)
	}
	long := make(eventList, maxCachedEvents*2/3)
	for i := range long {
		long[i] = events[0]
	}
	for n := range 2 {
		ref := adk.SessionRef{SessionID: fmt.Sprint("long", n)}
		b.view(ref, long, nil)
		b.view(ref, long, nil)
	}
	if n := b.byRef.Len(); n != 1 || b.events != len(long) {
		t.Errorf("%d sessions with %d events are kept, want the last long one", n, b.events)
	}
	b.forget(adk.SessionRef{SessionID: "long1"})
	if b.events != 0 {
		t.Errorf("%d events are kept of a session that was deleted", b.events)
	}
}
