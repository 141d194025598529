package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
)

// errNotOffered is returned by a case of [RunOptional] if the service does not implement the
// interface under test.
var errNotOffered = errors.New("the service does not implement the interface under test")

// These are the optional interfaces of inner services as package compaction declares them.
type (
	recordAppender interface {
		AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error
	}
	partialService interface {
		GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
	}
	leaser interface {
		Lease(ctx context.Context, sess session.Session, ttl time.Duration) (release func(), ok bool, err error)
	}
	partialSession interface {
		session.Session
		Partial() bool
		StoredEvents() int
		Covered(eventID string) bool
		Overtaken(eventID string) bool
	}
)

// optionalCases returns the cases that [RunOptional] checks.
func optionalCases() []Case {
	cases := slices.Concat(appenderCases(), partialCases(), leaserCases())
	for i, c := range cases {
		cases[i] = guarded(c)
	}
	return cases
}

// RunOptional tests a session service that implements compaction.RecordAppender, compaction.PartialService or
// compaction.Leaser. It does not test the rest of the service: ADK's own suite, package
// session/sessiontestsuite, does that, and [Run] does it below a compaction service. open returns the
// service over empty storage, and is called once more than there are cases. RunOptional skips the cases of
// interfaces that the service does not implement, and fails if it implements none.
//
//	func TestContracts(t *testing.T) {
//		compactiontest.RunOptional(t, func(t *testing.T) session.Service { return newService(t) })
//	}
func RunOptional(t *testing.T, open func(t *testing.T) session.Service) {
	t.Helper()
	if service := open(t); !offersAny(service) {
		t.Fatalf("%T implements none of the optional interfaces of package compaction: use Run, over a compaction service", service)
	}
	run(t, optionalCases(), open)
}

// offersAny reports whether a service implements an interface that a case of [RunOptional] is about.
func offersAny(service session.Service) bool {
	switch service.(type) {
	case recordAppender, partialService, leaser:
		return true
	}
	return false
}

// innerPlay is a conversation on an inner service. It writes its records itself.
type innerPlay struct {
	findings
	ctx     context.Context
	service session.Service
	// live is the handle used for appends.
	live session.Session
	h    History
	// stored is the number of events of h that were appended.
	stored int
}

// playingInner turns a function that plays a conversation into the check of a case.
func playingInner(f func(p *innerPlay)) func(context.Context, session.Service) error {
	return func(ctx context.Context, service session.Service) error {
		resp, err := service.Create(ctx, &session.CreateRequest{AppName: suiteApp, UserID: suiteUser, SessionID: suiteSession})
		if err != nil {
			return fmt.Errorf("create a session: %w", err)
		}
		p := &innerPlay{ctx: ctx, service: service, live: resp.Session}
		f(p)
		return p.join()
	}
}

// say appends the events that were added to the builder since the last call.
func (p *innerPlay) say() {
	for _, ev := range p.h.Events[p.stored:] {
		if err := p.service.AppendEvent(p.ctx, p.live, ev); err != nil {
			p.add("append event %s: %w", ev.ID, err)
		}
	}
	p.stored = len(p.h.Events)
}

// turns plays n turns, each with a question and an answer.
func (p *innerPlay) turns(n int) {
	for range n {
		at := len(p.h.Events)
		p.h.Turn(fmt.Sprintf("inv%d", at), "agent", "Please remember "+Fact(at)+".", "I have noted "+Fact(at+1)+".")
	}
	p.say()
}

// load reads the whole session.
func (p *innerPlay) load() session.Session {
	resp, err := p.service.Get(p.ctx, suiteRequest())
	if err != nil {
		p.add("get the session: %w", err)
		return stray{}
	}
	return resp.Session
}

// storedEvents reads all stored events, including records.
func (p *innerPlay) storedEvents() []*session.Event {
	return slices.Collect(p.load().Events().All())
}

// recordOf returns a record with the given ID over the stored events [from, to).
func (p *innerPlay) recordOf(id string, from, to int) *session.Event {
	events := p.storedEvents()
	return histories.RecordOver(events, id, IDs(events[min(from, len(events)):min(to, len(events))]))
}

// compact stores a record over the stored events [from, to) with an ordinary append, as it would be
// for a service without AppendRecord.
func (p *innerPlay) compact(id string, from, to int) *session.Event {
	return p.append(p.recordOf(id, from, to))
}

func (p *innerPlay) append(rec *session.Event) *session.Event {
	rec.Timestamp = p.load().LastUpdateTime()
	if err := p.service.AppendEvent(p.ctx, p.live, rec); err != nil {
		p.add("append record event %s: %w", rec.ID, err)
	}
	return rec
}

// part loads the events that the view needs.
func (p *innerPlay) part() session.Session {
	resp, err := p.service.(partialService).GetActive(p.ctx, suiteRequest())
	if err != nil {
		p.add("GetActive: %w", err)
		return stray{}
	}
	return resp.Session
}

// viewOf returns the view of a session as package compaction computes it.
func viewOf(sess session.Session) []*session.Event {
	loaded := view.Collect(sess.Events())
	part, ok := sess.(partialSession)
	if !ok || !part.Partial() {
		return view.Project(loaded)
	}
	return slices.Collect(view.NewPartial(loaded, view.Unloaded{
		Covered:   func(ev *session.Event) bool { return part.Covered(ev.ID) },
		Overtaken: func(ev *session.Event) bool { return part.Overtaken(ev.ID) },
	}).Events().All())
}

// checkPart checks that the partial session has the same view as the whole session.
func (p *innerPlay) checkPart(when string) {
	whole, part := p.load(), p.part()
	want, got := viewOf(whole), viewOf(part)
	same := func(a, b *session.Event) bool {
		return a.ID == b.ID && a.Author == b.Author && asJSON(a.Content) == asJSON(b.Content)
	}
	if !slices.EqualFunc(want, got, same) {
		p.add("%s, the view of what GetActive loads is %q, want %q, the view of the whole session", when, IDs(got), IDs(want))
	}
	stored := slices.Collect(whole.Events().All())
	if ps, ok := part.(partialSession); ok && ps.StoredEvents() != len(stored) {
		p.add("%s, StoredEvents is %d, want %d", when, ps.StoredEvents(), len(stored))
	}
	last := -1
	loaded := map[string]bool{}
	for ev := range part.Events().All() {
		at := slices.IndexFunc(stored, func(s *session.Event) bool { return s.ID == ev.ID })
		// A backend that sorts by time may give events of one time in any order, and in another one at the next reading.
		if at < 0 || loaded[ev.ID] || at < last && !sameTime(stored[at].Timestamp, stored[last].Timestamp) {
			p.add("%s, event %s is loaded twice or out of storage order", when, ev.ID)
			return
		}
		last, loaded[ev.ID] = max(at, last), true
	}
}

// elsewhere names a session that does not exist.
type elsewhere struct{ stray }

func (elsewhere) ID() string { return "no such session" }

// sameTime compares times to the microsecond, the precision of some databases.
func sameTime(a, b time.Time) bool {
	return a.Truncate(time.Microsecond).Equal(b.Truncate(time.Microsecond))
}
