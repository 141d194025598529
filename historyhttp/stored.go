package historyhttp

import (
	"context"
	"iter"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// stored is a session service that reads the stored events instead of the view, and refuses to
// write.
type stored struct {
	sessions *compaction.CompactionSessionService
}

var _ session.Service = stored{}

// Get returns the part of the stored history that the request's context asks for. It reads all of the
// history, because the inner service would count records among the newest events.
func (s stored) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := s.sessions.Raw(ctx, req)
	if err != nil {
		return nil, err
	}
	part, _ := ctx.Value(rangeKey{}).(eventRange)
	return &session.GetResponse{Session: history{resp.Session, part}}, nil
}

// List returns the sessions of a user. Sessions in a list have no events, on every service of ADK.
func (s stored) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	return s.sessions.List(ctx, req)
}

// Create returns an error.
func (stored) Create(context.Context, *session.CreateRequest) (*session.CreateResponse, error) {
	return nil, errReadOnly
}

// AppendEvent returns an error.
func (stored) AppendEvent(context.Context, session.Session, *session.Event) error { return errReadOnly }

// Delete returns an error.
func (stored) Delete(context.Context, *session.DeleteRequest) error { return errReadOnly }

// history is a stored session that shows only the events of a range, without compaction records.
type history struct {
	session.Session
	part eventRange
}

func (h history) Events() session.Events {
	var events conversation
	for ev := range h.Session.Events().All() {
		if ev != nil && !record.Is(ev) && !ev.Timestamp.Before(h.part.after) {
			events = append(events, ev)
		}
	}
	if n := h.part.recent; n > 0 && len(events) > n {
		events = events[len(events)-n:]
	}
	return events
}

// conversation is a list of events in the order of storage.
type conversation []*session.Event

// All yields the events in order.
func (c conversation) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, ev := range c {
			if !yield(ev) {
				return
			}
		}
	}
}

// Len returns the number of events.
func (c conversation) Len() int { return len(c) }

// At returns the event at index i, nil outside of the list.
func (c conversation) At(i int) *session.Event {
	if i < 0 || i >= len(c) {
		return nil
	}
	return c[i]
}
