package compaction

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/ids"
	"github.com/adk-go-ext/longsession/internal/view"
)

// load reads a session from the inner service, as much of it as views need.
func (s *CompactionSessionService) load(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if active, ok := s.inner.(PartialService); ok {
		return active.GetActive(ctx, req)
	}
	return s.inner.Get(ctx, req)
}

// viewOf makes the view of a session that was loaded. The session is returned too if events of it are
// still in storage.
func (s *CompactionSessionService) viewOf(ref SessionRef, sess session.Session) (*view.View, PartialSession) {
	if active, ok := sess.(PartialSession); ok && active.Partial() {
		return view.NewPartial(view.Collect(sess.Events()), unloadedOf(active)), active
	}
	return s.bases.view(ref, sess.Events()), nil
}

func unloadedOf(sess PartialSession) view.Unloaded {
	return view.Unloaded{
		Covered:   func(ev *session.Event) bool { return sess.Covered(ev.ID) },
		Overtaken: func(ev *session.Event) bool { return sess.Overtaken(ev.ID) },
	}
}

// loaded notes what the handle was loaded with.
func (h *handle) loaded(active PartialSession) {
	if active == nil {
		return
	}
	h.active, h.unloaded = active, max(0, active.StoredEvents()-len(h.view.Raw()))
	h.called, h.brought = map[adk.CallKey]bool{}, map[string]bool{}
}

// named gives an event an ID where the inner service would give one to its own copy: references to it are
// resolved by nothing else.
func (s *CompactionSessionService) named(ctx context.Context, ev *session.Event) *session.Event {
	if _, active := s.inner.(PartialService); !active || ev.ID != "" || ev.Partial {
		return ev
	}
	other := *ev
	other.ID = ids.New(ctx)
	return &other
}

// isLate reports whether an event answers a call that was not made through the handle: the call, or what
// goes with it, may have been left in storage.
func (h *handle) isLate(ev *session.Event) bool {
	if h.active == nil {
		return false
	}
	return slices.ContainsFunc(adk.FunctionResponses(ev), func(response *genai.FunctionResponse) bool {
		return !h.called[adk.CallKey{Branch: ev.Branch, ID: response.ID}]
	})
}

// bringBack adds a late answer that was stored to the view, and with it the members of its unit that were
// left in storage, in one step. Of what others did meanwhile the handle sees nothing. If the unit cannot
// be read, the answer stands alone. The caller holds state.append.
func (s *CompactionSessionService) bringBack(ctx context.Context, h *handle, ev *session.Event) error {
	resp, err := s.load(ctx, h.state.ref.request())
	if err != nil {
		h.appended(ev)
		return fmt.Errorf("load the call that a late answer is for: %w", err)
	}
	now := view.Collect(resp.Session.Events())
	active, _ := resp.Session.(PartialSession)
	h.grown(ev)
	h.view.Replace(func(raw []*session.Event) ([]*session.Event, view.Unloaded) {
		raw = h.withUnit(append(slices.Clone(raw), adk.WithoutTemp(ev)), now, ev.ID, active)
		unloaded := unloadedOf(h.active)
		unloaded.Covered = func(ev *session.Event) bool { return h.active.Covered(ev.ID) || h.brought[ev.ID] }
		if active != nil { // of the members that were brought, only the reading just now tells
			unloaded.Overtaken = func(ev *session.Event) bool { return h.active.Overtaken(ev.ID) || active.Overtaken(ev.ID) }
		}
		return raw, unloaded
	})
	return nil
}

// withUnit returns what the handle has, and the other members of the unit of the event of an ID, each
// before the event that it stands before in the session as it is now.
func (h *handle) withUnit(raw, now []*session.Event, id string, active PartialSession) []*session.Event {
	own := map[string]bool{}
	for _, ev := range raw {
		own[ev.ID] = true
	}
	at := slices.IndexFunc(now, func(ev *session.Event) bool { return ev.ID == id })
	if at < 0 {
		return raw
	}
	for _, i := range adk.GroupUnits(now).Of(at) {
		member := now[i]
		if own[member.ID] {
			continue
		}
		place := len(raw)
		if next := slices.IndexFunc(now[i+1:], func(ev *session.Event) bool { return own[ev.ID] }); next >= 0 {
			place = slices.IndexFunc(raw, func(ev *session.Event) bool { return ev.ID == now[i+1+next].ID })
		}
		raw = slices.Insert(raw, place, member)
		own[member.ID] = true
		if active != nil && active.Covered(member.ID) {
			h.brought[member.ID] = true
		}
	}
	return raw
}
