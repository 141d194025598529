package oracle

import (
	"reflect"
	"strings"

	"google.golang.org/adk/session"
)

// goesOn returns the positions of what ADK v2 reads of the workflow that the user's newest message goes on with, as far as
// it was there before that message, and not before the user began it: the user's messages, the calls that paused the workflow,
// and of each node the newest event, the newest output and the newest message that is an output.
func (h *history) goesOn() (needed []int) {
	answer := h.last(fromUser)
	if !resumes || answer < 0 || len(ResponseIDs(h.events[answer])) == 0 {
		return nil
	}
	run, spoken, flows := []int{}, false, false
	for i, ev := range h.events[:answer] {
		if ev == nil || ev.InvocationID != h.events[answer].InvocationID {
			continue
		}
		path, _ := nodeOf(ev)
		flows = flows || strings.Contains(path, "@") || strings.Contains(path, "/")
		if !spoken && speaks(ev) && ev.Author == "user" {
			run = nil
		}
		spoken = spoken || speaks(ev)
		run = append(run, i)
	}
	if !flows {
		return nil
	}
	newest := map[[2]string]int{} // by node, and by what of the event is its output
	for _, i := range run {
		ev := h.events[i]
		path, output := nodeOf(ev)
		if path == "" {
			path = ev.Author
		}
		newest[[2]string{path, ""}], newest[[2]string{path, output}] = i, i
		if ev.Author == "user" || len(ev.LongRunningToolIDs) > 0 {
			needed = append(needed, i)
		}
	}
	for _, i := range newest {
		needed = append(needed, i)
	}
	return needed
}

// speaks reports whether an event says something, and is no record.
func speaks(ev *session.Event) bool {
	return conversation(ev) && (ev.Content != nil && len(ev.Content.Parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil)
}

// nodeOf returns the path of an event's node, and which field is the node's output: "" where there is none. The fields are
// those of ADK v2.
func nodeOf(ev *session.Event) (path, output string) {
	if ev == nil || !resumes {
		return "", ""
	}
	fields := reflect.ValueOf(ev).Elem()
	info := fields.FieldByName("NodeInfo")
	if info.IsNil() {
		return "", ""
	}
	switch {
	case !fields.FieldByName("Output").IsNil():
		output = "Output"
	case info.Elem().FieldByName("MessageAsOutput").Bool():
		output = "MessageAsOutput"
	}
	return info.Elem().FieldByName("Path").String(), output
}
