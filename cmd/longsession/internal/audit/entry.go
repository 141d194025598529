package audit

import (
	"fmt"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/record"
)

// Entry is an event, or a summary of a view, for people to read.
type Entry struct {
	// Seq is the number of the event in its session, from 1; 0 for a summary.
	Seq int64  `json:"seq,omitempty"`
	ID  string `json:"id"`
	// Time is the time that the event's writer recorded: UTC, RFC 3339.
	Time         string `json:"time,omitempty"`
	InvocationID string `json:"invocation_id,omitempty"`
	Author       string `json:"author,omitempty"`
	Branch       string `json:"branch,omitempty"`
	// Scope is the isolation scope, which only events of ADK v2 have.
	Scope string `json:"scope,omitempty"`
	// Text is what was said, Thoughts what the model thought, if that was stored.
	Text      string     `json:"text,omitempty"`
	Thoughts  string     `json:"thoughts,omitempty"`
	Calls     []Call     `json:"calls,omitempty"`
	Responses []Response `json:"responses,omitempty"`
	// Other describes other parts, such as files, and has the fields that only some versions of ADK have, such as outputs of
	// nodes.
	Other []string `json:"other,omitempty"`
	// State holds the keys of the session's state that the event set.
	State map[string]any `json:"state,omitempty"`
	// Spent is what a guard had counted when the event was stored, Stop the bound that was reached with
	// it, and Reset what somebody then added to the limits, in words.
	Spent *Spent `json:"spent,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"`
	Reset string `json:"reset,omitempty"`
	Error string `json:"error,omitempty"`
	// Tokens is the estimated size of the event in a prompt; 0 for a record.
	Tokens int `json:"tokens"`
	// Record is set for a compaction record.
	Record *Compaction `json:"record,omitempty"`
	// CoveredBy is the ID of the record that covers the event, by the mark in the file.
	CoveredBy string `json:"covered_by,omitempty"`
	// Unreadable is the reason why an event cannot be read. Then only Seq, ID and CoveredBy are
	// set.
	Unreadable string `json:"unreadable,omitempty"`
	// Content is the genai content, in views only.
	Content *genai.Content `json:"content,omitempty"`
}

// Call is one function call.
type Call struct {
	ID   string         `json:"id,omitempty"`
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
	// Subtask is the ID of the session of the subtask that works for the call.
	Subtask string `json:"subtask,omitempty"`
	// Checkpoint is set for a call that reports a finished task: the ID of the checkpoint record that
	// answers it, [Pending] or [Refused].
	Checkpoint string `json:"checkpoint,omitempty"`
}

// Response is the response of a function.
type Response struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response,omitempty"`
}

// EntryOf returns a stored row for people to read.
func EntryOf(row *sessionfile.Row) Entry {
	e := Entry{Seq: row.Seq, ID: row.ID, CoveredBy: row.CoveredBy}
	if row.Event == nil {
		e.Unreadable = fmt.Sprint(row.Err)
		return e
	}
	e.take(row.Event)
	if row.Record || record.Is(row.Event) || adk.IsCompaction(row.Event) {
		c := compactionOf(row)
		e.Record, e.Tokens = &c, 0
	}
	return e
}

// take fills in the content of an event. What was spoken in a live run is stored as transcriptions and
// not as text; take shows both as text.
func (e *Entry) take(ev *session.Event) {
	e.ID, e.InvocationID, e.Author = ev.ID, ev.InvocationID, ev.Author
	e.Branch, e.Scope = adk.SplitLane(adk.Lane(ev))
	e.Time, e.Tokens = stamp(ev.Timestamp), size(ev)
	if len(ev.Actions.StateDelta) > 0 {
		e.State = ev.Actions.StateDelta
	}
	if ev.ErrorCode != "" || ev.ErrorMessage != "" {
		e.Error = strings.TrimSpace(ev.ErrorCode + " " + ev.ErrorMessage)
	}
	var said, thought []string
	for _, t := range []*genai.Transcription{ev.InputTranscription, ev.OutputTranscription} {
		if t != nil && t.Text != "" {
			said = append(said, t.Text)
		}
	}
	if ev.Content != nil {
		for _, part := range ev.Content.Parts {
			switch {
			case part == nil:
			case part.Thought:
				thought = append(thought, part.Text)
			case part.Text != "":
				said = append(said, part.Text)
			default:
				e.takePart(part)
			}
		}
	}
	e.Text, e.Thoughts = strings.Join(said, "\n"), strings.Join(thought, "\n")
	for _, f := range adk.FurtherFields { // such as what a node of a workflow puts out
		if v := f.Of(ev); !v.IsZero() {
			if text, err := marshal(v.Interface()); err == nil {
				e.Other = append(e.Other, f.Name+": "+string(text))
			}
		}
	}
}

// takePart adds a part that is neither text nor a thought. A file is described, not shown.
func (e *Entry) takePart(part *genai.Part) {
	switch {
	case part.FunctionCall != nil:
		e.Calls = append(e.Calls, Call{ID: part.FunctionCall.ID, Name: part.FunctionCall.Name, Args: part.FunctionCall.Args})
	case part.FunctionResponse != nil:
		e.Responses = append(e.Responses, Response{part.FunctionResponse.ID, part.FunctionResponse.Name, part.FunctionResponse.Response})
	case part.InlineData != nil:
		e.Other = append(e.Other, fmt.Sprintf("file %s %s, %d bytes", part.InlineData.DisplayName, part.InlineData.MIMEType, len(part.InlineData.Data)))
	case part.FileData != nil:
		e.Other = append(e.Other, fmt.Sprintf("file %s %s", part.FileData.FileURI, part.FileData.MIMEType))
	case part.ExecutableCode != nil:
		e.Other = append(e.Other, "code: "+part.ExecutableCode.Code)
	case part.CodeExecutionResult != nil:
		e.Other = append(e.Other, fmt.Sprintf("code result %s: %s", part.CodeExecutionResult.Outcome, part.CodeExecutionResult.Output))
	}
}
