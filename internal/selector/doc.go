// Package selector decides which events of a session may be summarized now. If there are none, it
// gives the reason.
//
// The package is pure: it takes an [Input] and [Params] and returns a [Selection]. It has no clock,
// no context and no model, and it changes nothing. All functions may be called concurrently.
//
// A selection is made per branch. Its candidates are the events that no current record covers and
// that nothing pins; their positions do not matter, so a window may have gaps.
//
// # Words
//
// An invocation is complete when no answer is missing. Either its latest event that speaks is an
// agent's answer (content without calls or responses), or a later invocation exists and this one is
// not known to be running:
//
//	e1 user: "Is it cold?"   inv 1
//	e2 bot:  "It is -3."     inv 1: complete, its latest event is an answer
//	e3 user: "Thanks."       inv 2: not complete, nobody has answered yet
//
// An invocation is active if it may still send prompts: it is not complete, or it is the newest.
// The newest one is active even behind an answer, because a workflow may go on.
//
// A unit is a call with all its responses and its parallel siblings, see package internal/adk. A
// window takes a unit whole or not at all. If one member is pinned or waits for an answer, all
// members stay.
//
// A window is the set of events that one summary will stand for.
//
// # Overlap
//
// The invocation trigger leaves the newest [Params.Overlap] complete invocations raw. They become
// the oldest part of the next window. With a threshold of 3 and an overlap of 1:
//
//	turns 1 2 3       due: three complete turns began. Window: turns 1 2; turn 3 stays raw
//	turns 3 4 5 6     due: turns 4 5 6 began since. Window: turns 3 4 5; turn 6 stays raw
package selector
