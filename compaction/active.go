package compaction

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/calls"
)

// activeService is an inner service that can load a session without the events that its view hides, so
// that a turn costs what is visible. Package persistence has one.
type activeService interface {
	// GetActive returns the session with every event that its view may show. The filters of the request
	// are ignored. The session is an activeSession.
	GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
}

// activeSession is a session that may have left events in storage.
type activeSession interface {
	session.Session
	// Partial reports whether it has.
	Partial() bool
	// StoredEvents counts the events in storage when the session was loaded, records among them.
	StoredEvents() int
	// Covered reports whether a record stands for a loaded event.
	Covered(eventID string) bool
	// BegunAfter returns how many invocations began after a loaded event that holds a call, of which no
	// later event was loaded.
	BegunAfter(eventID string) int
}

// load reads a session from the inner service, as much of it as views need.
func (s *CompactionSessionService) load(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if active, ok := s.inner.(activeService); ok {
		return active.GetActive(ctx, req)
	}
	return s.inner.Get(ctx, req)
}

// viewOf makes the view of a session that was loaded. The session is returned too if events of it are
// still in storage.
func (s *CompactionSessionService) viewOf(ref SessionRef, sess session.Session) (*filtered.View, activeSession) {
	if active, ok := sess.(activeSession); ok && active.Partial() {
		return filtered.NewPartialView(filtered.Collect(sess.Events()), coveredIn(active)), active
	}
	return s.bases.view(ref, sess.Events()), nil
}

func coveredIn(sess activeSession) func(*session.Event) bool {
	return func(ev *session.Event) bool { return sess.Covered(ev.ID) }
}

// loaded notes what the handle was loaded with.
func (h *handle) loaded(active activeSession) {
	raw := h.view.Raw()
	if active == nil || len(raw) == 0 {
		return
	}
	h.active, h.last, h.unloaded = active, raw[len(raw)-1].ID, max(0, active.StoredEvents()-len(raw))
}

// complete loads the calls that an appended event answers, if they were left in storage: a late answer
// brings back its call, and all that goes with it. If they cannot be read the answer stands alone, which
// is reported.
func (s *CompactionSessionService) complete(ctx context.Context, h *handle, ev *session.Event) {
	if h.active == nil || h.knowsCallsOf(ev) {
		return
	}
	resp, err := s.load(ctx, h.state.ref.request())
	if err != nil {
		s.observe(ctx, Observation{
			Outcome: Failed, Session: h.state.ref, Branch: ev.Branch, InvocationID: ev.InvocationID,
			Err: failure(fmt.Errorf("load the call that a late answer is for: %w", err)),
		})
		return
	}
	covered := func(*session.Event) bool { return false }
	if active, ok := resp.Session.(activeSession); ok {
		covered = coveredIn(active)
	}
	h.view.Replace(h.merge(filtered.Collect(resp.Session.Events())), covered)
}

// knowsCallsOf reports whether every response in an event has its call in the handle.
func (h *handle) knowsCallsOf(ev *session.Event) bool {
	for _, response := range calls.ResponsesIn(ev) {
		if !h.hasCall(ev.Branch, response.ID) {
			return false
		}
	}
	return true
}

func (h *handle) hasCall(branch, id string) bool {
	for _, ev := range slices.Backward(h.view.Raw()) {
		for _, call := range calls.In(ev) {
			if call.ID == id && ev.Branch == branch {
				return true
			}
		}
	}
	return false
}

// merge returns, of the session as it is now, what the handle has and what was left in storage before
// it: a handle does not see what others append.
func (h *handle) merge(now []*session.Event) []*session.Event {
	own := map[string]bool{}
	for _, ev := range h.view.Raw() {
		own[ev.ID] = true
	}
	later := slices.IndexFunc(now, func(ev *session.Event) bool { return ev.ID == h.last }) + 1
	return slices.Concat(now[:later], slices.DeleteFunc(slices.Clone(now[later:]), func(ev *session.Event) bool { return !own[ev.ID] }))
}
