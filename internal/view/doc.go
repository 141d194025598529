// Package view computes what a model sees of a session: summaries in place of the events that current
// records cover, and every other event as it was stored.
//
// [Project] is the definition: pure, for any input, and the same for every backend. A [View] shows
// the same for a session that grows. [State] adds the data behind a view, for the code that decides
// what to summarize next.
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
// A call and its responses, a unit, are shown together or not at all. The newest event of the user
// and the newest event of an agent are always shown, even if a record covers them: ADK answers the
// first and uses the second for routing. If the first is the answer to a workflow that waits, so is what ADK
// v2 reads to go on with it (layout.keepRun).
//
// Three rules put an event in another place, or add one. Each has an example where it is implemented:
//
//   - A summary of tool rounds in a running turn is shown behind an event (layout.anchorSummaries), unless that
//     event lies between a call and its late answer (layout.freeSummaries).
//   - The words of a remote agent are shown in front of a later summary (layout.findRemoteWords), unless an answer of
//     the user stands before them.
//   - A stand-in is shown directly behind a call that was interrupted (standin.go).
//
// # How a view is kept
//
// A view is always rebuilt in the same way: layout arranges a working set of events. The first
// working set is the whole history. Later it is the events that the view currently shows, because
// most new events affect only these: a new record hides some of them, the next message of the user
// puts a stand-in behind some. If an event may affect hidden ones, such as a response to a hidden call, the history is
// read again. [projection.effectOf] makes that choice for each event.
package view
