package compaction_test

import (
	"context"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/compaction"
)

// foreignSession is another decorator's session, with an Unwrap such as ours.
type foreignSession struct{ session.Session }

func (s *foreignSession) Unwrap() session.Session { return s.Session }

// foreign is a decorator of somebody else. It gives out sessions of its own and, if it peels, takes
// that layer off again before it passes them down.
type foreign struct {
	session.Service
	peels bool
}

func (f *foreign) Unwrap() session.Service { return f.Service }

func (f *foreign) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := f.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: &foreignSession{resp.Session}}, nil
}

func (f *foreign) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := f.Service.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: &foreignSession{resp.Session}}, nil
}

func (f *foreign) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if own, ok := sess.(*foreignSession); ok && f.peels {
		sess = own.Session
	}
	return f.Service.AppendEvent(ctx, sess, ev)
}

// stack is how our layer and others stand on each other.
type stack struct {
	name string
	make func(t *testing.T, inner session.Service) (top session.Service, ours *compaction.CompactionSessionService)
}

func stacks() []stack {
	wrap := func(t *testing.T, inner session.Service) *compaction.CompactionSessionService {
		cfg, _ := oracleConfig()
		return newService(t, inner, cfg)
	}
	return []stack{
		{"under one that peels", func(t *testing.T, inner session.Service) (session.Service, *compaction.CompactionSessionService) {
			ours := wrap(t, inner)
			return &foreign{ours, true}, ours
		}},
		{"under one that does not", func(t *testing.T, inner session.Service) (session.Service, *compaction.CompactionSessionService) {
			ours := wrap(t, inner)
			return &foreign{ours, false}, ours
		}},
		{"over one that peels", func(t *testing.T, inner session.Service) (session.Service, *compaction.CompactionSessionService) {
			ours := wrap(t, &foreign{inner, true})
			return ours, ours
		}},
		{"between two", func(t *testing.T, inner session.Service) (session.Service, *compaction.CompactionSessionService) {
			ours := wrap(t, &foreign{inner, true})
			return &foreign{&foreign{ours, false}, false}, ours
		}},
	}
}

func TestADKConformanceSuitePassesBesideForeignDecorators(t *testing.T) {
	t.Parallel()
	for _, b := range backends(t) {
		for _, s := range stacks() {
			t.Run(b.Name+" "+s.name, func(t *testing.T) {
				t.Parallel()
				sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
					top, _ := s.make(t, b.Anew(t).Open(t))
					return top
				})
			})
		}
	}
}

func TestCompactionWorksBesideForeignDecorators(t *testing.T) {
	t.Parallel()
	for _, s := range stacks() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			eachBackend(t, func(t *testing.T, inner session.Service) {
				top, ours := s.make(t, inner)
				sess := create(t, top)
				events := turns(12)
				appendAll(t, top, sess, events...)
				for _, view := range [][]*session.Event{eventsOf(sess), eventsOf(get(t, top))} {
					if len(view) >= len(events) {
						t.Errorf("%d events are shown of %d", len(view), len(events))
					}
					wantFacts(t, view, 12)
				}
				wantOnce(t, ours, events)
				checkView(t, ours)
			})
		})
	}
}

// circular is a session that claims to wrap itself.
type circular struct{ session.Session }

func (c *circular) Unwrap() session.Session { return c }

// circularService is a service that claims to wrap itself.
type circularService struct{ session.Service }

func (c *circularService) Unwrap() session.Service { return c }

func TestSessionOfUnknownOriginPassesThrough(t *testing.T) {
	t.Parallel()
	eachBackend(t, func(t *testing.T, inner session.Service) {
		cfg, _ := oracleConfig()
		svc := newService(t, inner, cfg)
		events := turns(6)
		appendAll(t, svc, create(t, inner), events...)
		wantOnce(t, svc, events)

		other := newService(t, inner, cfg)
		strange := get(t, other) // the layer of another service is not ours to peel
		for name, sess := range map[string]session.Session{
			"another service's": strange, "a decorator's": &foreignSession{get(t, inner)}, "one that wraps itself": &circular{get(t, inner)},
		} {
			ev := turns(7)[12]
			want := inner.AppendEvent(t.Context(), sess, ev)
			got := svc.AppendEvent(t.Context(), sess, ev)
			if want == nil || got == nil || want.Error() != got.Error() {
				t.Errorf("%s session: %v, want the inner service's %v", name, got, want)
			}
		}
		if err := svc.AppendEvent(t.Context(), nil, events[0]); err == nil {
			t.Error("nil session: no error")
		}
	})
}

func TestUnwrapCycleDoesNotHang(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	svc := newService(t, &circularService{session.InMemoryService()}, cfg)
	sess := create(t, svc)
	appendAll(t, svc, sess, turns(6)...)
	if err := svc.AppendEvent(t.Context(), &circular{sess}, turns(7)[12]); err == nil {
		t.Error("a session that never unwraps to ours was taken for ours")
	}
}

func TestAServiceKnowsItsOwnViews(t *testing.T) {
	t.Parallel()
	cfg, _ := oracleConfig()
	inner := session.InMemoryService()
	svc, other := newService(t, inner, cfg), newService(t, inner, cfg)
	own := create(t, svc)
	resp, err := inner.Get(t.Context(), getRequest())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name string
		sess session.Session
		want bool
	}{
		{"its own", own, true},
		{"its own below another decorator", &foreignSession{Session: own}, true},
		{"another service's", get(t, other), false},
		{"a plain session", resp.Session, false},
		{"none", nil, false},
		{"a nil session", (*foreignSession)(nil), false},
		{"one that unwraps to itself", &circular{}, false},
	} {
		if got := svc.Owns(r.sess); got != r.want {
			t.Errorf("%s: Owns is %v", r.name, got)
		}
	}
}
