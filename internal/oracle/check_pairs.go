package oracle

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// checkPairs: a call and its responses are shown together.
func (c *checker) checkPairs() {
	for i, ev := range c.events {
		for _, id := range ResponseIDs(ev) {
			call := c.callOf(i, id)
			switch {
			case call == nil:
			case c.visible[ev] && !c.visible[call]:
				c.problem(Formed, ev, "response %s is shown without its call %s: providers refuse the prompt, ADK drops the response", ev.ID, call.ID)
			case !c.visible[ev] && c.visible[call]:
				c.problem(Formed, call, "call %s is shown without its stored response %s: the model waits for an answer it had", call.ID, ev.ID)
			case !c.visible[ev]:
			case c.position[call] < i && c.shown[call] > c.shown[ev]:
				c.problem(Formed, ev, "response %s is shown before its call %s: providers refuse the prompt", ev.ID, call.ID)
			case ev == call: // one event may answer a call and make one with the same ID
			case ev == c.view[len(c.view)-1] && (resumes || call.InvocationID != ev.InvocationID):
				c.checkLate(call, ev)
			}
		}
	}
}

// checkLate: no summary comes between a call of an earlier invocation and the response that ends the view.
func (c *checker) checkLate(call, response *session.Event) {
	for _, between := range c.view[c.shown[call]+1 : len(c.view)-1] {
		if _, summary := c.summaries[between]; summary {
			c.problem(Formed, between, "summary %s stands between call %s and its late response %s: ADK deletes it from the prompt", between.ID, call.ID, response.ID)
		}
	}
}

// callOf returns the event with the call that a response at position i answers: the nearest earlier
// one of its lane, else of any lane, else any.
func (c *checker) callOf(i int, id string) *session.Event {
	var same, other, later *session.Event
	for _, j := range c.calls[id] {
		// Within one event responses come before calls.
		switch call := c.events[j]; {
		case j >= i:
			later = call
		case laneOf(call) == laneOf(c.events[i]):
			same = call
		default:
			other = call
		}
	}
	switch {
	case same != nil:
		return same
	case other != nil:
		return other
	default:
		return later
	}
}

// CallIDs returns the IDs of the function calls in an event, in order; nil for an event without any and
// for nil.
func CallIDs(ev *session.Event) []string {
	var ids []string
	eachPart(ev, func(part *genai.Part) {
		if part.FunctionCall != nil {
			ids = append(ids, part.FunctionCall.ID)
		}
	})
	return ids
}

// ResponseIDs returns the IDs of the calls that the function responses in an event answer, like [CallIDs].
func ResponseIDs(ev *session.Event) []string {
	var ids []string
	eachPart(ev, func(part *genai.Part) {
		if part.FunctionResponse != nil {
			ids = append(ids, part.FunctionResponse.ID)
		}
	})
	return ids
}

func eachPart(ev *session.Event, f func(*genai.Part)) {
	if ev == nil || ev.Content == nil {
		return
	}
	for _, part := range ev.Content.Parts {
		if part != nil {
			f(part)
		}
	}
}
