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
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// innerService is an inner service that keeps all contracts until a field makes it bad.
type innerService struct {
	*persistence.SQLiteSessionService
	appendRecord func(ctx context.Context, sess session.Session, ev *session.Event) error
	appendEvent  func(ctx context.Context, sess session.Session, ev *session.Event) error
	active       func(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
	// part changes what GetActive returns.
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

// part is what GetActive returns, with answers that can be changed.
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

// insert stores a record as an event like any other, after some time.
func (s *innerService) insert(after time.Duration) func(context.Context, session.Session, *session.Event) error {
	return func(ctx context.Context, sess session.Session, ev *session.Event) error {
		now := s.load(ctx, sess)
		ev.Timestamp = now.LastUpdateTime().Add(after)
		return s.SQLiteSessionService.AppendEvent(ctx, now, ev)
	}
}

// badInner is a way to break a contract, and the case that must notice.
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
	return []badInner{
		{"moves the update time", "AppendRecord stores the record and nothing else", "was last updated at", func(s *innerService) { s.appendRecord = s.insert(time.Second) }},
		{"sets state", "AppendRecord stores the record and nothing else", "the state was", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				ev.Actions.StateDelta = map[string]any{"compacted": true}
				return s.insert(0)(ctx, sess, ev)
			}
		}},
		{"keeps the record's own time", "AppendRecord stores the record and nothing else", "the record is stored with the time", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				own := ev.Timestamp
				defer func() { ev.Timestamp = own }()
				return s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
			}
		}},
		{"refuses the turn's handle afterwards", "AppendRecord makes no turn stale", "stale session", func(s *innerService) {
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
		{"stores a record again", "AppendRecord can be repeated", "and one record", func(s *innerService) { s.appendRecord = s.insert(0) }},
		{"keeps the second event's ID", "AppendRecord can be repeated", "want the stored event", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				copied := *ev
				return s.SQLiteSessionService.AppendRecord(ctx, sess, &copied)
			}
		}},
		{"stores whatever it gets", "AppendRecord refuses what others have done", "is stored", func(s *innerService) { s.appendRecord = s.insert(0) }},
		{"refuses without a reason", "AppendRecord refuses what others have done", "want an error with Superseded() in its chain", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if err := s.SQLiteSessionService.AppendRecord(ctx, sess, ev); err != nil {
					return errors.New("conflict")
				}
				return nil
			}
		}},
		{"checks before it stores", "AppendRecord decides between two writers", "succeeded", checksFirst},
		{"stores in a session that does not exist", "AppendRecord says what went wrong", "want session.ErrNotFound", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				err := s.SQLiteSessionService.AppendRecord(ctx, sess, ev)
				if errors.Is(err, session.ErrNotFound) {
					return nil
				}
				return err
			}
		}},
		{"does not look at the context", "AppendRecord says what went wrong", "in a context that has ended: no error", func(s *innerService) {
			s.appendRecord = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				return s.SQLiteSessionService.AppendRecord(context.WithoutCancel(ctx), sess, ev)
			}
		}},
		{"loses an event", "GetActive loads all that the view shows", view, func(s *innerService) {
			s.part = func(p *part) { p.drop(func(ev *session.Event) bool { return ev.ID == "e5" }) }
		}},
		{"loads events in another order", "GetActive loads all that the view shows", "not in the order of storage", func(s *innerService) {
			s.part = func(p *part) {
				p.drop(func(*session.Event) bool { return false })
				slices.Reverse(p.events)
			}
		}},
		{"counts what it has loaded", "GetActive loads all that the view shows", "StoredEvents is", func(s *innerService) {
			s.part = func(p *part) { p.stored = p.ActiveSession.Events().Len() }
		}},
		{"loads nothing that is covered, newest or not", "GetActive loads the newest of each side", view, withoutCovered},
		{"splits units", "GetActive loads a call with all that belongs to it", view, withoutCovered},
		{"does not load the event in front of a summary", "GetActive loads the event in front of a summary of tool rounds", view, withoutCovered},
		{"takes nothing for covered", "Covered knows what records stand for", "is false, want true", func(s *innerService) { s.part = func(p *part) { p.covered = always(false) } }},
		{"takes everything for covered", "Covered knows what records stand for", "is true, want false", func(s *innerService) { s.part = func(p *part) { p.covered = always(true) } }},
		{"takes no call for overtaken", "Overtaken knows that a call will get no answer", view, func(s *innerService) { s.part = func(p *part) { p.overtaken = always(false) } }},
		{"takes every call for overtaken", "Overtaken knows that a call will get no answer", "is true, want false", func(s *innerService) { s.part = func(p *part) { p.overtaken = always(true) } }},
		{"believes the last of two records", "GetActive is careful with records that compete", view, func(s *innerService) {
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
		{"does not know its own parts", "a part can be appended to", "unknown session", func(s *innerService) {
			s.appendEvent = func(ctx context.Context, sess session.Session, ev *session.Event) error {
				if _, ok := sess.(*part); ok {
					return errors.New("unknown session")
				}
				return s.SQLiteSessionService.AppendEvent(ctx, sess, ev)
			}
		}},
		{"applies the filters", "a part can be appended to", "the filters are for the view", func(s *innerService) { s.active = s.Get }},
		{"finds what does not exist", "a part can be appended to", "want session.ErrNotFound", func(s *innerService) {
			s.active = func(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
				resp, err := s.SQLiteSessionService.GetActive(ctx, req)
				if errors.Is(err, session.ErrNotFound) {
					return &session.GetResponse{}, nil
				}
				return resp, err
			}
		}},
	}
}

// checksFirst checks in one step and stores in another. The first two writers check before either
// stores.
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

func TestInnerCasesCatchBrokenContracts(t *testing.T) {
	t.Parallel()
	cases := map[string]ct.Case{}
	for _, c := range ct.InnerCases() {
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
				t.Errorf("case %q says %v, want %q", b.want, err, b.says)
			}
		})
	}
	for name := range cases {
		if !caught[name] {
			t.Errorf("no broken service shows that case %q can fail", name)
		}
	}
}

func TestInnerCasesPassOnAGoodService(t *testing.T) {
	t.Parallel()
	ct.RunInner(t, func(t *testing.T) session.Service { return newInner(t) })
}

// A service that implements neither interface is not judged by them.
func TestInnerCasesSkipWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	for _, c := range ct.InnerCases() {
		if err := c.Check(t.Context(), session.InMemoryService()); !errors.Is(err, ct.ErrNotOffered) {
			t.Errorf("case %q says %v, want ErrNotOffered", c.Name, err)
		}
	}
}
