package adk

import "strings"

// Visible reports whether an event of branch event is part of the prompt of an agent that runs in
// branch reader: the event has no branch, or the agent has none, or the event's branch is the
// agent's own or an ancestor of it. It mirrors eventBelongsToBranch in
// internal/llminternal/contents_processor.go.
//
// An agent in branch "par.a" reads the events of "", "par" and "par.a", but not those of "par.b"
// and "par.a.x"; "par.aa" is not a descendant of "par.a".
func Visible(reader, event string) bool {
	return reader == "" || event == "" || reader == event || strings.HasPrefix(reader, event+".")
}
