package filtered

import (
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/view"
)

var _ session.Session = (*FilteredSession)(nil)

// Source supplies the events of a [FilteredSession].
type Source interface {
	// Events returns a snapshot that never changes afterwards, and never nil. It must be safe for
	// concurrent use.
	Events() session.Events
}

// FilteredSession is a session whose readers see the view of an inner session's events. Everything
// except Events passes through to the inner session. It is safe for concurrent use if the inner
// session is.
type FilteredSession struct {
	inner  session.Session
	source Source
}

// NewFilteredSession returns a session whose Events are the view of the inner session's events. It asks
// the inner session at every call, so it shows appends by any code. A call costs what is new, plus
// what the inner session's own Events costs.
func NewFilteredSession(inner session.Session) *FilteredSession {
	return NewSession(inner, &polled{inner: inner})
}

// NewSession returns a session that takes its events from source and everything else from inner. A
// service that knows about every append uses it in place of [NewFilteredSession].
func NewSession(inner session.Session, source Source) *FilteredSession {
	return &FilteredSession{inner: inner, source: source}
}

// Unwrap returns the inner session, as it was given.
func (s *FilteredSession) Unwrap() session.Session { return s.inner }

// Source returns the source that the session was made with.
func (s *FilteredSession) Source() Source { return s.source }

// ID returns the inner session's ID.
func (s *FilteredSession) ID() string { return s.inner.ID() }

// AppName returns the inner session's app name.
func (s *FilteredSession) AppName() string { return s.inner.AppName() }

// UserID returns the inner session's user ID.
func (s *FilteredSession) UserID() string { return s.inner.UserID() }

// State returns the inner session's state, so that writes reach it.
func (s *FilteredSession) State() session.State { return s.inner.State() }

// Events returns the view as it is now, normally as [*FilteredEvents]. The result never changes.
func (s *FilteredSession) Events() session.Events {
	events := s.source.Events()
	if snapshot, ok := events.(*view.Snapshot); ok {
		return (*FilteredEvents)(snapshot)
	}
	return events
}

// LastUpdateTime returns the inner session's last update time.
func (s *FilteredSession) LastUpdateTime() time.Time { return s.inner.LastUpdateTime() }

// polled keeps a view up to date by asking the inner session for its events.
type polled struct {
	inner session.Session
	mu    sync.Mutex
	view  *view.View
}

func (p *polled) Events() session.Events {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := p.inner.Events()
	if p.view == nil || !p.continues(events) {
		p.view = view.New(view.Collect(events))
		return p.view.Events()
	}
	for i := p.view.Len(); i < events.Len(); i++ {
		p.view.Append(events.At(i))
	}
	return p.view.Events()
}

// continues reports whether events begins with the events that the view has. A session only grows, so
// it compares just the first and the last of them.
func (p *polled) continues(events session.Events) bool {
	raw := p.view.Raw()
	n := len(raw)
	if events == nil || events.Len() < n {
		return false
	}
	return n == 0 || events.At(0) == raw[0] && events.At(n-1) == raw[n-1]
}
