package integration_test

import (
	"context"
	"iter"
	"slices"

	"google.golang.org/adk/session"
)

// appending runs a function before or after every append.
type appending struct {
	session.Service
	before, after func(ctx context.Context, s session.Service, sess session.Session, ev *session.Event)
}

func (s appending) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if s.before != nil {
		s.before(ctx, s.Service, sess, ev)
	}
	if err := s.Service.AppendEvent(ctx, sess, ev); err != nil {
		return err
	}
	if s.after != nil {
		s.after(ctx, s.Service, sess, ev)
	}
	return nil
}

// hiding is a service whose sessions hide some events.
type hiding struct {
	session.Service
	hides func(*session.Event) bool
}

type hidingSession struct {
	session.Session
	hides func(*session.Event) bool
}

func (s hiding) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := s.Service.Get(ctx, req)
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: hidingSession{resp.Session, s.hides}}, nil
}

func (s hiding) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.Service.AppendEvent(ctx, sess.(hidingSession).Session, ev)
}

func (s hidingSession) Events() session.Events {
	return eventList(slices.DeleteFunc(eventsOf(s.Session), s.hides))
}

type eventList []*session.Event

func (l eventList) Len() int                { return len(l) }
func (l eventList) At(i int) *session.Event { return l[i] }
func (l eventList) All() iter.Seq[*session.Event] {
	return slices.Values(l)
}
