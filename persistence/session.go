package persistence

import (
	"iter"
	"maps"
	"reflect"
	"sync"
	"time"

	"google.golang.org/adk/session"
)

var (
	_ session.Session = (*storedSession)(nil)
	_ session.Events  = events(nil)
	_ session.State   = state{}
)

// storedSession is a handle: a session as it was read, plus the events appended through this handle
// since. It is safe for concurrent use.
type storedSession struct {
	// key is the row of the session. A session that is created again under the same ID has another
	// key.
	key           int64
	app, user, id string

	mu        sync.RWMutex
	events    []*session.Event
	state     map[string]any
	updatedAt time.Time
	// invocation is the invocation of the newest conversation event that was appended through this
	// handle.
	invocation string
}

// handleOf returns the handle of a session of this package, nil for any other session.
func handleOf(sess session.Session) *storedSession {
	switch sess := sess.(type) {
	case *storedSession:
		return sess
	case *ActiveSession:
		return sess.storedSession
	}
	return nil
}

// isNil reports whether a session is nil, or a nil pointer in an interface.
func isNil(sess session.Session) bool {
	if sess == nil {
		return true
	}
	v := reflect.ValueOf(sess)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func (s *storedSession) ID() string           { return s.id }
func (s *storedSession) AppName() string      { return s.app }
func (s *storedSession) UserID() string       { return s.user }
func (s *storedSession) State() session.State { return state{s} }

// Events returns a snapshot. Later appends do not change it.
func (s *storedSession) Events() session.Events {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return events(s.events)
}

func (s *storedSession) LastUpdateTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.updatedAt
}

// appended adds a stored event to the handle, and its state delta, temporary keys included.
func (s *storedSession) appended(ev *session.Event, delta map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, ev)
	s.updatedAt = ev.Timestamp
	maps.Copy(s.state, delta)
}

// noteInvocation remembers the invocation of a stored event, so that later events of it need not
// store it again.
func (s *storedSession) noteInvocation(invocation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invocation = invocation
}

func (s *storedSession) latestInvocation() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.invocation
}

type events []*session.Event

func (e events) All() iter.Seq[*session.Event] {
	return func(yield func(*session.Event) bool) {
		for _, ev := range e {
			if !yield(ev) {
				return
			}
		}
	}
}

func (e events) Len() int { return len(e) }

func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// state is the state of a handle. Set changes the handle only. An event's state delta changes the
// file.
type state struct{ of *storedSession }

func (s state) Get(key string) (any, error) {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	value, ok := s.of.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

func (s state) Set(key string, value any) error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.state[key] = value
	return nil
}

func (s state) All() iter.Seq2[string, any] {
	s.of.mu.RLock()
	defer s.of.mu.RUnlock()
	return maps.All(maps.Clone(s.of.state))
}
