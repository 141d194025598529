package oracle

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// The calls by which ADK asks the user for something. No prompt contains them.
var asksUser = []string{"adk_request_confirmation", "adk_request_credential"}

// checkAnswered: an interrupted call has a stand-in directly after it. No other call has one:
// neither an answered call, nor one whose invocation may go on.
func (c *checker) checkAnswered() {
	c.findAnswers()
	for k, ev := range c.view {
		if i, stored := c.position[ev]; stored && ev != nil {
			c.checkCalls(k, i)
		}
		if _, responds := c.standIns[ev]; responds {
			c.checkStandIn(k)
		}
	}
}

// answer is a call by its event and its ID.
type answer struct {
	call *session.Event
	id   string
}

// findAnswers lists the calls that were answered, and those that await a confirmation.
func (c *checker) findAnswers() {
	c.answered, c.confirms = map[answer]bool{}, map[string]bool{}
	for i, ev := range c.events {
		for _, id := range ResponseIDs(ev) {
			if call := c.callOf(i, id); call != nil {
				c.answered[answer{call, id}] = true
			}
		}
		eachPart(ev, func(part *genai.Part) {
			if part.FunctionCall == nil || part.FunctionCall.Name != asksUser[0] {
				return
			}
			if original, ok := part.FunctionCall.Args["originalFunctionCall"].(map[string]any); ok {
				id, _ := original["id"].(string)
				c.confirms[id] = true
			}
		})
		if ev != nil {
			for id := range ev.Actions.RequestedToolConfirmations {
				c.confirms[id] = true
			}
		}
	}
}

// checkCalls looks at the calls of view[k], the stored event at position i.
func (c *checker) checkCalls(k, i int) {
	ev := c.view[k]
	var given []string
	if k+1 < len(c.view) && c.standIns[c.view[k+1]] {
		given = ResponseIDs(c.view[k+1])
	}
	eachPart(ev, func(part *genai.Part) {
		call := part.FunctionCall
		if call == nil || call.ID == "" || slices.Contains(asksUser, call.Name) || c.answered[answer{ev, call.ID}] {
			return
		}
		patient := slices.Contains(ev.LongRunningToolIDs, call.ID) || c.confirms[call.ID]
		if !patient && !c.tasks.give(i, call) && overtaken(c.events, i) && !slices.Contains(given, call.ID) {
			c.problem(Formed, ev, "call %s of %s was interrupted, and is shown without a response: providers refuse every prompt that holds it", call.ID, ev.ID)
		}
	})
}

// checkStandIn looks at view[k], a response that was never stored.
func (c *checker) checkStandIn(k int) {
	ev := c.view[k]
	var call *session.Event
	if k > 0 {
		call = c.view[k-1]
	}
	i, stored := c.position[call]
	if call == nil || !stored {
		c.problem(Formed, ev, "response %s, which is not stored, does not stand behind a stored call: providers refuse the prompt", ev.ID)
		return
	}
	if ev.Author != call.Author || laneOf(ev) != laneOf(call) || ev.InvocationID != call.InvocationID || ev.Content.Role != genai.RoleUser {
		c.problem(Formed, ev, "response %s, which is not stored, is of another author, role, branch or invocation than its call %s: ADK does not pair them", ev.ID, call.ID)
	}
	calls := CallIDs(call)
	for _, id := range ResponseIDs(ev) {
		switch {
		case !slices.Contains(calls, id):
			c.problem(Formed, ev, "response %s, which is not stored, answers %s, which %s does not call: providers refuse the prompt", ev.ID, id, call.ID)
		case c.answered[answer{call, id}]:
			c.problem(Formed, ev, "response %s, which is not stored, answers %s, which has a stored response: the model does not learn the result", ev.ID, id)
		case c.tasks.give(i, lastCall(call, id)) || !overtaken(c.events, i):
			c.problem(Formed, ev, "response %s, which is not stored, answers %s, which may still return: the model gives up too early", ev.ID, id)
		}
	}
}

// IsStandIn reports whether an event that is not stored holds responses only, as a stand-in does.
func IsStandIn(ev *session.Event) bool {
	only := len(ResponseIDs(ev)) > 0
	eachPart(ev, func(part *genai.Part) { only = only && part.FunctionResponse != nil })
	return only
}
