package sessions

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

// PartialService is compaction.PartialService.
type PartialService interface {
	GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error)
}

// PartialSession is compaction.PartialSession.
type PartialSession interface {
	session.Session
	Partial() bool
	StoredEvents() int
	Covered(eventID string) bool
	Overtaken(eventID string) bool
}

// partialLoad is what a handle knows about events that were left in storage; nil if it has every
// event. It is guarded by State.Append.
type partialLoad struct {
	loaded   PartialSession
	unloaded int // how many events were left
	// called are the calls made through the handle since it was loaded, and restored the covered
	// events that late answers brought back.
	called   map[adk.CallKey]bool
	restored map[string]bool
}

func unloadedOf(sess PartialSession) view.Unloaded {
	return view.Unloaded{
		Covered:   func(ev *session.Event) bool { return sess.Covered(ev.ID) },
		Overtaken: func(ev *session.Event) bool { return sess.Overtaken(ev.ID) },
	}
}

// Unloaded counts the events that were left in storage when the handle was loaded.
func (h *Handle) Unloaded() int {
	if h.partial == nil {
		return 0
	}
	return h.partial.unloaded
}

// WithID gives an event an ID where the inner service would give one to its own copy: references to
// the event are resolved by nothing else.
func (s *Sessions) WithID(ctx context.Context, ev *session.Event) *session.Event {
	if _, partial := s.Inner.(PartialService); !partial || ev.ID != "" || ev.Partial {
		return ev
	}
	other := *ev
	other.ID = ids.New(ctx)
	return &other
}

// note notes the calls of an event that is appended.
func (p *partialLoad) note(ev *session.Event) {
	if p == nil {
		return
	}
	for _, call := range adk.FunctionCalls(ev) {
		p.called[adk.CallKey{Branch: adk.Lane(ev), ID: call.ID}] = true
	}
}

// lacksCallOf reports whether an event answers a call that was not made through the handle: the
// call, or what goes with it, may have been left in storage.
//
//	stored:  call "transfer" (covered, not loaded)   ...   the handle is loaded
//	append:  the response to "transfer", days later: its call is read again
func (p *partialLoad) lacksCallOf(ev *session.Event) bool {
	if p == nil {
		return false
	}
	return slices.ContainsFunc(adk.FunctionResponses(ev), func(response *genai.FunctionResponse) bool {
		return !p.called[adk.CallKey{Branch: adk.Lane(ev), ID: response.ID}]
	})
}

// restoreCall adds a late answer that was stored to the view, and with it what was left in storage of its unit, and of the
// run that it goes on with, in one step. The handle still does not see what others appended in the
// meantime. If the unit cannot be read, the answer is shown without its call, and the error says
// why. The caller holds State.Append.
func (h *Handle) restoreCall(ctx context.Context, ev *session.Event) error {
	resp, err := h.owner.Load(ctx, h.State.Ref.Request())
	if err != nil {
		h.appended(ev)
		return fmt.Errorf("load the call that a late answer is for: %w", err)
	}
	now := view.Collect(resp.Session.Events())
	fresh, _ := resp.Session.(PartialSession)
	h.noteAppend(ev)
	p := h.partial
	h.View.Replace(func(raw []*session.Event) ([]*session.Event, view.Unloaded) {
		raw = p.withCall(append(slices.Clone(raw), adk.WithoutTemp(ev)), now, ev.ID, fresh)
		unloaded := unloadedOf(p.loaded)
		unloaded.Covered = func(ev *session.Event) bool { return p.loaded.Covered(ev.ID) || p.restored[ev.ID] }
		if fresh != nil { // only this reading knows the members that were restored
			unloaded.Overtaken = func(ev *session.Event) bool { return p.loaded.Overtaken(ev.ID) || fresh.Overtaken(ev.ID) }
		}
		return raw, unloaded
	})
	if adk.ResumesRuns {
		h.noteResumption(ev)
	}
	return nil
}

// withCall returns what the handle has, and the other events that go with the event of an ID: the members of its unit, and
// what ADK reads to go on with their run, see [adk.RunEvents]. Each is before the event that it precedes in the session as
// it is now.
func (p *partialLoad) withCall(raw, now []*session.Event, id string, fresh PartialSession) []*session.Event {
	own := map[string]bool{}
	for _, ev := range raw {
		own[ev.ID] = true
	}
	at := slices.IndexFunc(now, func(ev *session.Event) bool { return ev.ID == id })
	if at < 0 {
		return raw
	}
	units, wanted := adk.GroupUnits(now), []int{at}
	if answer := now[at]; adk.Resumes(answer) {
		wanted = append(wanted, adk.RunEvents(now[:at], func(id string) bool { return id == answer.InvocationID })...)
	}
	for _, i := range wanted {
		for _, i := range append(slices.Clone(units.Of(i)), i) {
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
			if fresh != nil && fresh.Covered(member.ID) {
				p.restored[member.ID] = true
			}
		}
	}
	return raw
}
