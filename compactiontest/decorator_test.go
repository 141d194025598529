package compactiontest_test

import (
	"context"
	"iter"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
)

// decorator wraps a compacting service. It behaves well until a field breaks it.
type decorator struct {
	session.Service
	// show replaces the events that a session shows.
	show func(sess session.Session) session.Events
	// opened is called with every session that the service returns.
	opened func(sess session.Session)
	// store appends an event; deleted is called after a session is deleted.
	store func(ctx context.Context, sess session.Session, ev *session.Event) error
	// filter modifies a request.
	filter func(req *session.GetRequest)
	// opaque hides the wrapped service.
	opaque bool
}

type decorated struct {
	session.Session
	by *decorator
}

func (s *decorated) Events() session.Events {
	if s.by.show == nil {
		return s.Session.Events()
	}
	return s.by.show(s.Session)
}

// transparent is a decorator that can be unwrapped.
type transparent struct{ *decorator }

func (d transparent) Unwrap() session.Service { return d.Service }

func (d *decorator) top() session.Service {
	if d.opaque {
		return d
	}
	return transparent{d}
}

func (d *decorator) wrap(sess session.Session) session.Session {
	if d.opened != nil {
		d.opened(sess)
	}
	return &decorated{sess, d}
}

func (d *decorator) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := d.Service.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.CreateResponse{Session: d.wrap(resp.Session)}, nil
}

func (d *decorator) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if d.filter != nil {
		changed := *req
		d.filter(&changed)
		req = &changed
	}
	resp, err := d.Service.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: d.wrap(resp.Session)}, nil
}

func (d *decorator) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if own, ok := sess.(*decorated); ok {
		sess = own.Session
	}
	if d.store != nil {
		return d.store(ctx, sess, ev)
	}
	return d.Service.AppendEvent(ctx, sess, ev)
}

// listed is a list of events whose methods may contradict each other.
type listed struct {
	length int
	at     func(i int) *session.Event
	events []*session.Event
}

func (l *listed) Len() int                      { return l.length }
func (l *listed) At(i int) *session.Event       { return l.at(i) }
func (l *listed) All() iter.Seq[*session.Event] { return slices.Values(l.events) }
func showing(e []*session.Event) session.Events { return view.NewSnapshot(e) }
func keyed(sess session.Session) string {
	return sess.AppName() + "/" + sess.UserID() + "/" + sess.ID()
}
func isSummary(ev *session.Event) bool {
	return len(histories.FactsIn(ev)) > 1 && strings.HasPrefix(ev.Content.Parts[0].Text, "[")
}
func rawOf(d *decorator, s session.Session) []*session.Event {
	resp, err := d.Service.(interface {
		Raw(context.Context, *session.GetRequest) (*session.GetResponse, error)
	}).Raw(context.Background(), &session.GetRequest{AppName: s.AppName(), UserID: s.UserID(), SessionID: s.ID()})
	if err != nil {
		return nil
	}
	return listOf(resp.Session)
}
