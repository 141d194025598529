package oracle

import (
	"math"
	"reflect"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"
)

// StandIn is the response that a view shows for the interrupted call of that ID.
type StandIn struct {
	ID string
	// Waits means that the call is long-running or awaits a confirmation.
	Waits bool
}

// resumes is true for ADK v2, whose events have nodes: a call that waits has no stand-in there, because ADK would not resume
// it.
var resumes = func() bool {
	_, found := reflect.TypeFor[session.Event]().FieldByName("NodeInfo")
	return found
}()

// standIns returns the stand-ins behind the event at a position: one for each call that has an ID
// and no response, if a later message of the user in another invocation is visible in the call's
// lane. Calls by which ADK asks the user for something get none, because no prompt contains them, and those that gave
// tasks to agents get none, because ADK goes on with such a task.
func (h *history) standIns(i int) (out []StandIn) {
	if h.events[i] == nil || !overtaken(h.events, i) {
		return nil
	}
	eachPart(h.events[i], func(part *genai.Part) {
		call := part.FunctionCall
		if call == nil || call.ID == "" || slices.Contains(asksUser, call.Name) {
			return
		}
		if lastCall(h.events[i], call.ID) != call || h.tasks.give(i, call) || h.answered(i, call.ID) {
			return
		}
		waits := slices.Contains(h.events[i].LongRunningToolIDs, call.ID) || h.toBeConfirmed(i, call.ID)
		if !waits || !resumes {
			out = append(out, StandIn{call.ID, waits})
		}
	})
	return out
}

// overtaken reports whether the invocation of the event at a position is over: a later message of
// the user in another invocation is visible in the event's lane.
func overtaken(events []*session.Event, i int) bool {
	return slices.ContainsFunc(events[i+1:], func(ev *session.Event) bool {
		return ev != nil && ev.Author == "user" && ev.Content != nil && len(ev.Content.Parts) > 0 &&
			ev.InvocationID != events[i].InvocationID && sees(laneOf(events[i]), laneOf(ev))
	})
}

// answered reports whether a response belongs to the calls of an ID in the event at a position.
func (h *history) answered(i int, id string) bool {
	for j := range h.events {
		if slices.Contains(ResponseIDs(h.events[j]), id) && h.callOf(j, id) == i {
			return true
		}
	}
	return false
}

// made is one call of a history and its location: place is the number of calls before it in the
// event.
type made struct {
	event, place int
	call         *genai.FunctionCall
}

// toBeConfirmed reports whether a request for a confirmation refers to the call. A request refers
// to the nearest call of its ID before it, preferably of its own lane, else to the last one.
func (h *history) toBeConfirmed(i int, id string) bool {
	var all []made
	for j := range h.events {
		n := 0
		eachPart(h.events[j], func(part *genai.Part) {
			if part.FunctionCall != nil {
				all = append(all, made{j, n, part.FunctionCall})
				n++
			}
		})
	}
	found := func(j, place int) bool {
		here, earlier, any := -1, -1, -1
		for _, m := range all {
			if m.call.ID != id {
				continue
			}
			any = m.event
			if m.event < j || m.event == j && m.place < place {
				earlier = m.event
				if laneOf(h.events[m.event]) == laneOf(h.events[j]) {
					here = m.event
				}
			}
		}
		switch {
		case here >= 0:
			return here == i
		case earlier >= 0:
			return earlier == i
		}
		return any == i
	}
	for _, m := range all {
		if m.call.Name != "adk_request_confirmation" {
			continue
		}
		original, err := toolconfirmation.OriginalCallFrom(m.call)
		if err == nil && original != nil && original.ID == id && found(m.event, m.place) {
			return true
		}
	}
	for j, ev := range h.events {
		if ev == nil {
			continue
		}
		if _, asks := ev.Actions.RequestedToolConfirmations[id]; asks && found(j, math.MaxInt) {
			return true
		}
	}
	return false
}
