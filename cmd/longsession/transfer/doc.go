// Package transfer copies sessions between a session file of package persistence and a PostgreSQL database of ADK's
// session/database service, in both directions.
//
// A copy is a stream: memory holds one portion of events, and for each event of the session a digest and a few words of
// its skeleton, which the comparison of the views needs. Each portion is stored in one transaction. A copy that was cut
// off goes on where it stopped: it compares what the target has with the source, event by event, and adds the rest. If the
// two differ, nothing is changed.
//
// ADK's tables hold less than a session file. [Losses] counts what a copy to them cannot keep. Two rules make both
// sides comparable:
//
//   - An event is compared as ADK's tables have it: [rowOf] is the only place that knows them.
//   - ADK reads events in the order of their times, to the microsecond, and a file has them in the order of their
//     commits. So an event that is not later than the one before it is stored one microsecond behind it ([order]). A
//     record may share the time of its predecessor, as records do.
package transfer
