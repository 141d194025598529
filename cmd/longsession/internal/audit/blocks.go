package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/adk-go-ext/longsession/layer/guard"
)

// Block is a part of an event for people to read.
type Block struct {
	// Kind is "text", "thought", "call", "subtask", "checkpoint", "response", "other", "state", "spent", "stop", "reset", "error", "summary" or
	// "problem".
	Kind string
	// Title is empty for text that was said.
	Title string
	Text  string
}

// Blocks returns the content of an event in reading order: what prevents it from being read, thoughts,
// text, calls, responses, other parts, state, error, and the summary of a record. Calls and responses
// are JSON. For example, an event that says "One moment." and calls lookup has two blocks:
//
//	text                  One moment.
//	call  call of lookup  {"order":"A-1041"}
func Blocks(e *Entry) []Block {
	var out []Block
	add := func(kind, title, text string) {
		if text != "" {
			out = append(out, Block{kind, title, text})
		}
	}
	add("problem", "cannot be read", e.Unreadable)
	add("thought", "thought", e.Thoughts)
	add("text", "", e.Text)
	for _, c := range e.Calls {
		add("call", "call of "+c.Name, compact(c.Args))
		add("subtask", "runs in session", c.Subtask)
		add("checkpoint", "checkpoint", checkpointText(c.Checkpoint))
	}
	for _, r := range e.Responses {
		add("response", "response of "+r.Name, compact(r.Response))
	}
	for _, o := range e.Other {
		add("other", "also", o)
	}
	state := e.State
	if e.Spent != nil { // that is what the key says
		state = maps.Clone(state)
		delete(state, guard.StateKey)
	}
	if len(state) > 0 || e.State != nil && e.Spent == nil {
		add("state", "state set", compact(state))
	}
	if e.Spent != nil {
		add("spent", "spent so far", fmt.Sprintf("%s in %d model calls", e.Spent.Cost(), e.Spent.Calls))
	}
	if e.Stop != nil {
		add("stop", "stopped", e.Stop.String())
	}
	add("reset", "reset", e.Reset)
	add("error", "error", e.Error)
	if m := e.Record; m != nil {
		add("problem", "cannot be read", m.Problem)
		add("summary", fmt.Sprintf("%s for %d events (trigger %s, level %d)", m.Kind, m.Events, m.Trigger, m.Level), m.Summary)
		add("text", "focus", m.Focus)
		add("text", "note", m.Note)
		add("text", "values", m.ValueTexts())
	}
	return out
}

// checkpointText says what became of a call that reports a finished task.
func checkpointText(of string) string {
	switch of {
	case "":
		return ""
	case Pending:
		return "not written yet"
	case Refused:
		return "not asked for: the call failed"
	}
	return "written as record " + of
}

// compact writes a value as JSON on one line.
func compact(value map[string]any) string {
	if value == nil {
		return "{}"
	}
	text, err := marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// marshal returns a value as JSON on one line, without escapes for HTML and without a line break at
// the end.
func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
