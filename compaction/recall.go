package compaction

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/adk/session"
)

// Loaded is a session at one moment: what is stored, and what a prompt shows of it. The events belong to the
// service, and must not be changed.
type Loaded struct {
	// Events are all stored events in the order of storage, records included. Nil if the inner service left some of
	// them in storage, as a [PartialService] does.
	Events []*session.Event
	// View are the events that prompts show, in that order: summaries, stand-ins for missing responses, and stored
	// events as [Config].Cut shows them.
	View []*session.Event
}

// OnDelete has f called with every session that is deleted through the service, for code that keeps something about
// sessions. f must return soon and must not call the service.
func (s *CompactionSessionService) OnDelete(f func(ref SessionRef)) { s.deleted.add(f) }

// listeners are functions to be called for a session.
type listeners struct {
	mu  sync.Mutex
	all []func(SessionRef)
}

func (l *listeners) add(f func(SessionRef)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(slices.Clip(l.all), f)
}

func (l *listeners) call(ref SessionRef) {
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	for _, f := range all {
		f(ref)
	}
}

// Load reads a session for code that searches what the view does not show. It does not count as a turn. Errors are
// the inner service's.
func (s *CompactionSessionService) Load(ctx context.Context, ref SessionRef) (Loaded, error) {
	h, err := s.sessions.Handle(ctx, ref)
	if err != nil {
		return Loaded{}, err
	}
	loaded := Loaded{View: slices.Collect(h.Events().All())}
	if h.Unloaded() == 0 {
		loaded.Events = h.View.Raw()
	}
	return loaded, nil
}
