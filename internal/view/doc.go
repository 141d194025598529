// Package view computes what a model sees of a session: summaries in place of the events that current
// records cover, and every other event as it was stored.
//
// [Project] is the definition: pure, for any input, and the same for every backend. A [View] shows the
// same for a session that is being appended to. [State] adds what a view is made of, for the code that
// decides what to summarize next.
//
// A record is current if no other record absorbs or replaces it. The view is, in this order,
//
//   - the summaries of the current records, by the start of what they stand for;
//   - every event that no current record covers, in the order of the backend.
//
// For example:
//
//	stored                              view
//	e1  user: Book a table.             summary of r
//	e2  agent: At which restaurant?     e3
//	r   record that covers e1 and e2
//	e3  user: Casa Lola, at eight.
//
// A call and its responses, a unit, are shown together or not at all. Whatever records cover, the
// newest event of the user and the newest event of an agent are shown: ADK answers the first and
// routes by the second.
//
// Four rules put an event in another place, or add one. Each has an example where it is implemented:
//
//   - The rest of a unit is shown directly in front of its late answer (layout.findLateAnswers).
//   - A summary of tool rounds in a running turn is shown behind an event (layout.anchorSummaries).
//   - The words of a remote agent are shown in front of a later summary (layout.findRemoteWords).
//   - A stand-in is shown directly behind a call that was interrupted (standin.go).
//
// # How a view is kept
//
// A projection is made in one way only: layout arranges a working set of events. The first working set
// is the whole history. Afterwards it is the events that were visible, because they decide alone what
// most events change: a new record hides some of them, a late answer moves some of them. If hidden
// events may bear on the outcome, such as a response to a hidden call, the history is read again.
// [projection.effectOf] makes that choice for each event.
package view
