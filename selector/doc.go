// Package selector decides which events of a session may be summarized now, and says why when none
// may.
//
// It is pure: it takes a history and parameters and returns a [Selection]. It knows no clock, no
// context and no model. Candidates are chosen by "not covered and not pinned", never by position,
// and per branch; windows need not be contiguous.
//
// Words used throughout:
//
//   - An invocation is complete when it has conversational content and either its latest such event
//     is an agent's answer (content without calls or responses), or a later invocation exists and it
//     is not known to be running. Every other one is live, and so is the newest one for as long as it
//     is the newest: a workflow may go on after an answer.
//   - A unit is a call with all its responses and parallel siblings, see package internal/calls. One
//     pinned or open member keeps its whole unit.
//   - A window is what one summary will stand for.
package selector
