package compactiontest

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/adk/session"
)

var (
	_ session.Session = (*strictSession)(nil)
	_ session.Events  = eventList(nil)
	_ session.State   = (*strictState)(nil)
)

// strictSession is a handle of a [StrictService]. It shows the events that were read and those
// appended through it since, but never those appended through other handles.
type strictSession struct {
	key strictKey

	mu      sync.RWMutex
	events  []*session.Event
	state   map[string]any
	updated time.Time
}

// handle returns a handle without events. The caller holds mu.
func (s *StrictService) handle(key strictKey, stored *strictRecord) *strictSession {
	return &strictSession{key: key, state: s.stateOf(key, stored), updated: stored.updated}
}

func (h *strictSession) ID() string      { return h.key.id }
func (h *strictSession) AppName() string { return h.key.app }
func (h *strictSession) UserID() string  { return h.key.user }

func (h *strictSession) State() session.State { return &strictState{h} }

func (h *strictSession) Events() session.Events {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return eventList(slices.Clone(h.events))
}

func (h *strictSession) LastUpdateTime() time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.updated
}

// append adds an event to the handle. It adds the caller's own event, or a copy if the event
// carries temporary state.
func (h *strictSession) append(ev *session.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.state, ev.Actions.StateDelta)
	if kept := withoutTemp(ev.Actions.StateDelta); len(kept) < len(ev.Actions.StateDelta) {
		trimmed := *ev
		trimmed.Actions.StateDelta = kept
		ev = &trimmed
	}
	h.events = append(h.events, ev)
}

func (h *strictSession) setUpdated(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updated = t
}

// eventList is the list of events that a session shows.
type eventList []*session.Event

func (l eventList) All() iter.Seq[*session.Event] { return slices.Values(l) }
func (l eventList) Len() int                      { return len(l) }

// At returns nil outside the list, as ADK's services do.
func (l eventList) At(i int) *session.Event {
	if i < 0 || i >= len(l) {
		return nil
	}
	return l[i]
}

// strictState is the state of one handle.
type strictState struct{ h *strictSession }

func (s *strictState) Get(key string) (any, error) {
	s.h.mu.RLock()
	defer s.h.mu.RUnlock()
	value, ok := s.h.state[key]
	if !ok {
		return nil, session.ErrStateKeyNotExist
	}
	return value, nil
}

func (s *strictState) Set(key string, value any) error {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	s.h.state[key] = value
	return nil
}

func (s *strictState) All() iter.Seq2[string, any] {
	s.h.mu.RLock()
	defer s.h.mu.RUnlock()
	return maps.All(maps.Clone(s.h.state))
}
