// Package filtered computes what a model sees of a session: live summaries in place of the events
// they stand for, and everything else as it was stored.
//
// [Project] is the definition: pure, total, and the same for every backend. [View] computes the
// same thing step by step for a session that is being appended to, and [FilteredSession] puts either
// in front of an inner session.session without touching it.
//
// The view is, in this order:
//
//   - the live summaries of earlier turns, by the start of what they stand for;
//   - every event that no live summary stands for, in the order of the backend.
//
// Three things stand elsewhere. A call whose latest response lies in a later invocation is shown
// directly before that response, because ADK deletes every event between the two that is not a tool
// event. And the summary of tool rounds of an invocation that was still running stands behind the
// event it names, because ADK starts some prompts at the last user event and would cut it off. And what a
// remote agent said stands in front of the first summary in front that tells of anything later, because
// ADK sends such an agent only what stands behind its newest event.
//
// Directly behind a call that was interrupted stands a response that is not stored, see [IsStandIn]:
// model providers refuse a prompt with a call that has no response. A call is interrupted when it has an
// ID and no stored response, and the user has said something in another invocation since, in a branch
// that the call's agent sees.
//
// A call and its responses are visible together or not at all. And whatever records say, the newest
// event of the user and the newest of an agent stay visible: ADK answers the one and routes by the
// other.
package view
