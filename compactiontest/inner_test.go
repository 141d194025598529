package compactiontest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// innerService is an inner service that keeps all contracts unless a field breaks one.
type innerService struct {
	*persistence.SQLiteSessionService
	appendRecord func(ctx context.Context, sess session.Session, ev *session.Event) error
	appendEvent  func(ctx context.Context, sess session.Session, ev *session.Event) error
	active       func(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
	leases       leases
	lease        func(ctx context.Context, sess session.Session, ttl time.Duration) (func(), bool, error)
	// part modifies what GetActive returns.
	part func(p *part)
}

func newInner(t *testing.T) *innerService {
	t.Helper()
	s, err := persistence.NewSQLiteSessionService(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &innerService{SQLiteSessionService: s}
}

// part is the session that GetActive returns. Tests can replace its answers.
type part struct {
	*persistence.ActiveSession
	events             []*session.Event
	covered, overtaken func(string) bool
	stored             int
}

func (p *part) Events() session.Events {
	if p.events == nil {
		return p.ActiveSession.Events()
	}
	return view.NewSnapshot(p.events)
}

func (p *part) StoredEvents() int        { return p.stored }
func (p *part) Covered(id string) bool   { return p.covered(id) }
func (p *part) Overtaken(id string) bool { return p.overtaken(id) }

// drop removes loaded events.
func (p *part) drop(which func(ev *session.Event) bool) {
	p.events = slices.DeleteFunc(slices.Collect(p.ActiveSession.Events().All()), which)
}

// leases are those of sessions, each with its end.
type leases struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (l *leases) take(id string, ttl time.Duration) (release func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[string]time.Time{}
	}
	if time.Now().Before(l.until[id]) {
		return nil, false
	}
	mine := time.Now().Add(ttl)
	l.until[id] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.until[id] == mine {
			delete(l.until, id)
		}
	}, true
}

func (s *innerService) Lease(ctx context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
	if s.lease != nil {
		return s.lease(ctx, sess, ttl)
	}
	release, ok := s.leases.take(sess.ID(), ttl)
	return release, ok, nil
}

func (s *innerService) AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error {
	if s.appendRecord != nil {
		return s.appendRecord(ctx, sess, ev)
	}
	return s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
}

func (s *innerService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if s.appendEvent != nil {
		return s.appendEvent(ctx, sess, ev)
	}
	if p, ok := sess.(*part); ok {
		sess = p.ActiveSession
	}
	return s.SQLiteSessionService.AppendEvent(ctx, sess, ev)
}

func (s *innerService) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if s.active != nil {
		return s.active(ctx, req)
	}
	resp, err := s.SQLiteSessionService.GetActive(ctx, req)
	if err != nil {
		return nil, err
	}
	few := resp.Session.(*persistence.ActiveSession)
	p := &part{ActiveSession: few, covered: few.Covered, overtaken: few.Overtaken, stored: few.StoredEvents()}
	if s.part != nil {
		s.part(p)
	}
	return &session.GetResponse{Session: p}, nil
}

// load reads the session that an append names.
func (s *innerService) load(ctx context.Context, sess session.Session) session.Session {
	resp, err := s.Get(ctx, &session.GetRequest{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: sess.ID()})
	if err != nil {
		return sess
	}
	return resp.Session
}

// insert stores a record like an ordinary event, after a delay.
func (s *innerService) insert(after time.Duration) func(context.Context, session.Session, *session.Event) error {
	return func(ctx context.Context, sess session.Session, ev *session.Event) error {
		now := s.load(ctx, sess)
		ev.Timestamp = now.LastUpdateTime().Add(after)
		return s.SQLiteSessionService.AppendEvent(ctx, now, ev)
	}
}

// badInner is a way to break a contract, and the case that must report it.
type badInner struct {
	name, want, says string
	spoil            func(s *innerService)
}

func badInners() []badInner {
	always := func(answer bool) func(string) bool { return func(string) bool { return answer } }
	withoutCovered := func(s *innerService) {
		s.part = func(p *part) { p.drop(func(ev *session.Event) bool { return p.ActiveSession.Covered(ev.ID) }) }
	}
	const view = "the view of what GetActive loads is"
	bad := []badInner{
		{name: "moves the update time", want: "AppendRecord stores the record and nothing else", says: "moved the session's last update time", spoil: func(s *innerService) { s.appendRecord = s.insert(time.Second) }},
		{name: "sets state", want: "AppendRecord stores the record and nothing else", says: "changed the state from", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				ev.Actions.StateDelta = map[string]any{"compacted": true}
				return s.insert(0)(ctx, sess, ev)
			}
		}},
		{name: "keeps the record's own time", want: "AppendRecord stores the record and nothing else", says: "the stored record has time", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				own := ev.Timestamp
				defer func() { ev.Timestamp = own }()
				return s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
			}
		}},
		{name: "refuses the turn's handle afterwards", want: "AppendRecord makes no turn stale", says: "stale session", spoil: func(s *innerService) {
			stale := false
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				stale = true
				return s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
			}
			s.appendEvent = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if stale {
					return errors.New("stale session")
				}
				return s.SQLiteSessionService.AppendEvent(ctx, sess, ev)
			}
		}},
		{name: "stores a record again", want: "AppendRecord can be repeated", says: "and one record", spoil: func(s *innerService) { s.appendRecord = s.insert(0) }},
		{name: "keeps the second event's ID", want: "AppendRecord can be repeated", says: "want the ID of the stored event", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				copied := *ev
				return s.SQLiteSessionService.AppendRecord(ctx, sess, &copied)
			}
		}},
		{name: "stores every record", want: "AppendRecord refuses superseded records", says: "is stored", spoil: func(s *innerService) { s.appendRecord = s.insert(0) }},
		{name: "refuses without a reason", want: "AppendRecord refuses superseded records", says: "want an error with Superseded() in its chain", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if err := s.SQLiteSessionService.AppendRecord(ctx, sess, ev); err != nil {
					return errors.New("conflict")
				}
				return nil
			}
		}},
		{name: "checks before it stores", want: "AppendRecord accepts one of several writers", says: "succeeded", spoil: checksFirst},
		{name: "accepts a session that does not exist", want: "AppendRecord returns errors that callers can tell apart", says: "want compaction.ErrNotFound", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				err := s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
				if adk.IsNotFound(err) {
					return nil
				}
				return err
			}
		}},
		{name: "ignores the context", want: "AppendRecord returns errors that callers can tell apart", says: "with a canceled context: no error", spoil: func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				return s.SQLiteSessionService.AppendRecord(context.WithoutCancel(ctx), sess, ev)
			}
		}},
		{name: "loses an event", want: "GetActive loads everything the view shows", says: view, spoil: func(s *innerService) {
			s.part = func(p *part) { p.drop(func(ev *session.Event) bool { return ev.ID == "e5" }) }
		}},
		{name: "loads events in the wrong order", want: "GetActive loads everything the view shows", says: "out of storage order", spoil: func(s *innerService) {
			s.part = func(p *part) {
				p.drop(func(*session.Event) bool { return false })
				slices.Reverse(p.events)
			}
		}},
		{name: "counts only loaded events", want: "GetActive loads everything the view shows", says: "StoredEvents is", spoil: func(s *innerService) {
			s.part = func(p *part) { p.stored = p.ActiveSession.Events().Len() }
		}},
		{name: "loads no covered event", want: "GetActive loads the newest of each side", says: view, spoil: withoutCovered},
		{name: "splits units", want: "GetActive loads a call with its whole unit", says: view, spoil: withoutCovered},
		{name: "does not load the anchor of a summary", want: "GetActive loads the anchor of a mid-turn summary", says: view, spoil: withoutCovered},
		{name: "reports no event as covered", want: "Covered reports exactly the covered events", says: "is false, want true", spoil: func(s *innerService) { s.part = func(p *part) { p.covered = always(false) } }},
		{name: "reports every event as covered", want: "Covered reports exactly the covered events", says: "is true, want false", spoil: func(s *innerService) { s.part = func(p *part) { p.covered = always(true) } }},
		{name: "reports no call as overtaken", want: "Overtaken reports calls that will get no answer", says: view, spoil: func(s *innerService) { s.part = func(p *part) { p.overtaken = always(false) } }},
		{name: "reports every call as overtaken", want: "Overtaken reports calls that will get no answer", says: "is true, want false", spoil: func(s *innerService) { s.part = func(p *part) { p.overtaken = always(true) } }},
		{name: "trusts the later of two records", want: "GetActive resolves competing records", says: view, spoil: func(s *innerService) {
			s.part = func(p *part) {
				var last *session.Event
				for ev := range p.ActiveSession.Events().All() {
					if record.Is(ev) {
						last = ev
					}
				}
				hidden := map[string]bool{}
				if m, err := record.From(last); err == nil && m != nil {
					for _, ref := range m.Covered {
						hidden[ref.ID] = true
					}
				}
				p.drop(func(ev *session.Event) bool { return record.Is(ev) && ev != last || hidden[ev.ID] })
			}
		}},
		{name: "does not recognize its own partial sessions", want: "a partial session accepts appends", says: "unknown session", spoil: func(s *innerService) {
			s.appendEvent = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if _, ok := sess.(*part); ok {
					return errors.New("unknown session")
				}
				return s.SQLiteSessionService.AppendEvent(ctx, sess, ev)
			}
		}},
		{name: "applies the filters", want: "a partial session accepts appends", says: "the filters apply to the view", spoil: func(s *innerService) { s.active = s.Get }},
		{name: "finds a session that does not exist", want: "a partial session accepts appends", says: "want compaction.ErrNotFound", spoil: func(s *innerService) {
			s.active = func(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
				resp, err := s.SQLiteSessionService.GetActive(ctx, req)
				if adk.IsNotFound(err) {
					return &session.GetResponse{}, nil
				}
				return resp, err
			}
		}},
		{name: "leases to everybody", want: "Lease lets one at a time have a session", says: "leased twice", spoil: func(s *innerService) {
			s.lease = func(context.Context, session.Session, time.Duration) (func(), bool, error) {
				return func() {}, true, nil
			}
		}},
		{name: "leases all sessions together", want: "Lease lets one at a time have a session", says: "another session cannot be leased", spoil: func(s *innerService) {
			s.lease = func(_ context.Context, _ session.Session, ttl time.Duration) (func(), bool, error) {
				release, ok := s.leases.take("one", ttl)
				return release, ok, nil
			}
		}},
		{name: "refuses with an error", want: "Lease lets one at a time have a session", says: "lease a session: taken", spoil: func(s *innerService) {
			s.lease = func(_ context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
				release, ok := s.leases.take(sess.ID(), ttl)
				if !ok {
					return nil, false, errors.New("taken")
				}
				return release, ok, nil
			}
		}},
		{name: "leases for an hour at least", want: "Lease ends without its process", says: "has not ended", spoil: func(s *innerService) {
			s.lease = func(ctx context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
				release, ok := s.leases.take(sess.ID(), max(ttl, time.Hour))
				return release, ok, nil
			}
		}},
		{name: "gives back what it has not", want: "Lease is given back once", says: "gave back the next one", spoil: func(s *innerService) {
			s.lease = func(_ context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
				_, ok := s.leases.take(sess.ID(), ttl)
				return func() {
					s.leases.mu.Lock()
					defer s.leases.mu.Unlock()
					delete(s.leases.until, sess.ID())
				}, ok, nil
			}
		}},
		{name: "gives nothing back after its context", want: "Lease is given back once", says: "not given back after its context", spoil: func(s *innerService) {
			s.lease = func(ctx context.Context, sess session.Session, ttl time.Duration) (func(), bool, error) {
				release, ok := s.leases.take(sess.ID(), ttl)
				return func() {
					if ctx.Err() == nil {
						release()
					}
				}, ok, nil
			}
		}},
	}
	if adk.ResumesRuns {
		bad = append(bad, badInner{name: "forgets what nodes have put out", want: "GetActive loads what a workflow goes on with", says: view, spoil: func(s *innerService) {
			s.part = func(p *part) {
				p.drop(func(ev *session.Event) bool { return adk.InWorkflow(ev) && p.ActiveSession.Covered(ev.ID) })
			}
		}})
	}
	return bad
}

// checksFirst checks and stores in two separate steps. The first two writers both check before
// either stores.
func checksFirst(s *innerService) {
	var both sync.WaitGroup
	both.Add(2)
	places := make(chan struct{}, 2)
	s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
		now := s.load(ctx, sess)
		taken := slices.ContainsFunc(slices.Collect(now.Events().All()), record.Is)
		select {
		case places <- struct{}{}:
			both.Done()
			both.Wait()
		default:
			both.Wait()
			return persistence.ErrRecordSuperseded
		}
		if taken {
			return persistence.ErrRecordSuperseded
		}
		return s.insert(0)(ctx, sess, ev)
	}
}

func TestOptionalCasesCatchBrokenContracts(t *testing.T) {
	t.Parallel()
	cases := map[string]ct.Case{}
	for _, c := range ct.OptionalCases() {
		cases[c.Name] = c
	}
	caught := map[string]bool{}
	for _, b := range badInners() {
		caught[b.want] = true
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			c, known := cases[b.want]
			if !known {
				t.Fatalf("there is no case %q", b.want)
			}
			s := newInner(t)
			b.spoil(s)
			if err := c.Check(t.Context(), s); err == nil || !strings.Contains(err.Error(), b.says) {
				t.Errorf("case %q returns %v, want %q", b.want, err, b.says)
			}
		})
	}
	for name := range cases {
		if !caught[name] {
			t.Errorf("no broken service proves that case %q can fail", name)
		}
	}
}

func TestOptionalCasesPassOnAGoodService(t *testing.T) {
	t.Parallel()
	ct.RunOptional(t, func(t *testing.T) session.Service { return newInner(t) })
}

// A service that implements neither interface passes without being tested.
func TestOptionalCasesSkipWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	for _, c := range ct.OptionalCases() {
		if err := c.Check(t.Context(), session.InMemoryService()); !errors.Is(err, ct.ErrNotOffered) {
			t.Errorf("case %q returns %v, want ErrNotOffered", c.Name, err)
		}
	}
}

// panickyLeaser is a service whose leases panic.
type panickyLeaser struct{ session.Service }

func (panickyLeaser) Lease(context.Context, session.Session, time.Duration) (func(), bool, error) {
	panic("no leases today")
}

func TestAPanicOfAnInnerServiceIsAFinding(t *testing.T) {
	t.Parallel()
	found := 0
	for _, c := range ct.OptionalCases() {
		err := c.Check(t.Context(), panickyLeaser{session.InMemoryService()})
		switch {
		case errors.Is(err, ct.ErrNotOffered):
		case err == nil || !strings.Contains(err.Error(), "the service panicked: no leases today"):
			t.Errorf("case %q returns %v, want the panic", c.Name, err)
		default:
			found++
		}
	}
	if found == 0 {
		t.Error("no case asked for a lease")
	}
}
