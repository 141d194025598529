package adk

import "strings"

// scopeMark stands between the branch and the isolation scope in a lane. Without a scope the lane is the branch.
const scopeMark = "\x1f"

// JoinLane returns the lane of a branch and an isolation scope. Without a scope it is the branch.
func JoinLane(branch, scope string) string {
	if scope == "" {
		return branch
	}
	return branch + scopeMark + scope
}

// SplitLane returns the branch and the isolation scope of a lane.
func SplitLane(lane string) (branch, scope string) {
	branch, scope, _ = strings.Cut(lane, scopeMark)
	return branch, scope
}

// Visible reports whether an event of lane event is part of the prompt of an agent that runs in
// lane reader: the scopes are the same, and the event has no branch, or the agent has none, or the event's branch is
// the agent's own or an ancestor of it. It mirrors eventBelongsToBranch in
// internal/llminternal/contents_processor.go.
//
// An agent in branch "par.a" reads the events of "", "par" and "par.a", but not those of "par.b"
// and "par.a.x"; "par.aa" is not a descendant of "par.a". Only ADK v2 has scopes.
func Visible(reader, event string) bool {
	if strings.Contains(reader, scopeMark) || strings.Contains(event, scopeMark) {
		branch, scope := SplitLane(reader)
		its, within := SplitLane(event)
		return scope == within && Visible(branch, its)
	}
	return reader == "" || event == "" || strings.HasPrefix(reader, event) && (len(reader) == len(event) || reader[len(event)] == '.')
}
