package adk

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/adk/session"
)

// InWorkflow reports whether an event comes from a node of a workflow, as opposed to the root alone. Only ADK v2 has nodes.
func InWorkflow(ev *session.Event) bool {
	path, _ := NodeOf(ev)
	return strings.ContainsAny(path, "/@")
}

// Resumes reports whether the user goes on with an earlier run by a message: where [ResumesRuns] is true, the answer to a
// call carries on the call's invocation.
func Resumes(message *session.Event) bool {
	return ResumesRuns && message != nil && message.Author == userAuthor && len(FunctionResponses(message)) > 0
}

// Resumed returns the position of the user's newest message if it [Resumes] a run, -1 otherwise. What a node of that run has
// written since in the user's name is no message.
func Resumed(events []*session.Event) int {
	by := "" // the run of such a node
	for i, ev := range slices.Backward(events) {
		if ev == nil || ev.Author != userAuthor || ev.Content == nil {
			continue
		}
		switch {
		case by != "" && by != ev.InvocationID:
			return -1
		case Resumes(ev):
			return i
		case !InWorkflow(ev):
			return -1
		}
		by = ev.InvocationID
	}
	return -1
}

// RunEvents returns the positions of what ADK v2 reads to go on with workflows, in descending order: of each invocation that
// goes on and has a node, what the user said, the calls that paused it, each node's newest output of either kind, and the
// newest event of each node, because a node without events seems not to have run. See ReconstructRunState in
// workflow/persistence.go and rehydrateCache in workflow/dynamic_scheduler.go: of a node that ran often, in a loop, ADK
// reads the newest output. If the first words of an invocation are the user's, what comes before them is not of the run, so
// that a storage need not look for it; a run without a message of the user is read from its first event on.
func RunEvents(events []*session.Event, goesOn func(invocation string) bool) []int {
	type node struct{ invocation, path, output string }
	flows, begins, seen := map[string]bool{}, map[string]int{}, map[node]bool{}
	for i, ev := range events {
		if ev == nil || !goesOn(ev.InvocationID) {
			continue
		}
		if _, known := begins[ev.InvocationID]; !known && Classify(ev).Is(Speaks) {
			begins[ev.InvocationID] = 0
			if ev.Author == userAuthor {
				begins[ev.InvocationID] = i
			}
		}
		flows[ev.InvocationID] = flows[ev.InvocationID] || InWorkflow(ev)
	}
	var found []int
	for i, ev := range slices.Backward(events) {
		if ev == nil || !flows[ev.InvocationID] || !goesOn(ev.InvocationID) || i < begins[ev.InvocationID] {
			continue
		}
		path, output := NodeOf(ev)
		event := node{ev.InvocationID, cmp.Or(path, ev.Author), ""} // one without a path is of the node that is called like its author
		result := node{event.invocation, event.path, output}
		newest := !seen[event] || !seen[result]
		seen[event], seen[result] = true, true
		if newest || ev.Author == userAuthor || len(ev.LongRunningToolIDs) > 0 {
			found = append(found, i)
		}
	}
	return found
}
