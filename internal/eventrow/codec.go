// Package eventrow has the events of a session file as rows of its table events: what is stored of an event, and the
// event that a row gives back. docs/schema.md describes the columns.
package eventrow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Row is an event as the columns of the table events. A JSON column is nil, for NULL, if the event
// has nil or nothing there.
type Row struct {
	ID, Time, InvocationID, Author, Branch              string
	Content, Actions, Usage, Custom, LongRunning, Extra any
	links
}

// actions is the JSON of an event's actions. Unlike omitempty, omitzero keeps an empty map apart
// from nil.
type actions struct {
	StateDelta                 map[string]any                               `json:"state_delta,omitzero"`
	ArtifactDelta              map[string]int64                             `json:"artifact_delta,omitzero"`
	RequestedToolConfirmations map[string]toolconfirmation.ToolConfirmation `json:"requested_tool_confirmations,omitzero"`
	SkipSummarization          bool                                         `json:"skip_summarization,omitzero"`
	TransferToAgent            string                                       `json:"transfer_to_agent,omitzero"`
	Escalate                   bool                                         `json:"escalate,omitzero"`
}

func actionsOf(a *session.EventActions) actions {
	return actions{a.StateDelta, a.ArtifactDelta, a.RequestedToolConfirmations, a.SkipSummarization, a.TransferToAgent, a.Escalate}
}

// set copies the actions into those of an event.
func (a *actions) set(into *session.EventActions) {
	into.StateDelta, into.ArtifactDelta, into.RequestedToolConfirmations = a.StateDelta, a.ArtifactDelta, a.RequestedToolConfirmations
	into.SkipSummarization, into.TransferToAgent, into.Escalate = a.SkipSummarization, a.TransferToAgent, a.Escalate
}

// newEventActions is the JSON of the actions that ADK's constructor of events sets. Most events
// have these.
const newEventActions = `{"state_delta":{},"artifact_delta":{}}`

// Encode returns the row of an event. It does not change the event. Fields with a column of their
// own go there, all others to the column extra. For example, an answer with the finish reason STOP
// has
//
//	content  {"parts":[{"text":"Yes."}],"role":"model"}
//	actions  {"state_delta":{},"artifact_delta":{}}
//	extra    {"finish_reason":"STOP"}
func Encode(ev *session.Event) (Row, error) {
	r := Row{ID: ev.ID, InvocationID: ev.InvocationID, Author: ev.Author, Branch: adk.Lane(ev)}
	var exact exactly
	unreadable, err := exact.collect(reflect.ValueOf(ev), "")
	if err != nil {
		return Row{}, err
	}
	if unreadable {
		ev = without(reflect.ValueOf(ev)).Interface().(*session.Event)
	}
	x := extraOf(ev)
	x.Exact = exact
	if x.Further, err = furtherOf(ev); err != nil {
		return Row{}, err
	}
	r.Time, x.Time = FormatTime(ev.Timestamp)

	e := encoder{}
	r.Content = e.json("content", ev.Content, ev.Content == nil)
	r.Usage = e.json("usage metadata", ev.UsageMetadata, ev.UsageMetadata == nil)
	r.Custom = e.json("custom metadata", ev.CustomMetadata, ev.CustomMetadata == nil)
	r.LongRunning = e.json("long-running tool IDs", ev.LongRunningToolIDs, ev.LongRunningToolIDs == nil)
	r.Extra = e.json("extra", &x, x.isZero())
	if a := actionsOf(&ev.Actions); isNewEvent(&a) {
		r.Actions = newEventActions
	} else {
		r.Actions = e.json("actions", &a, isNothing(&a))
	}
	if e.err != nil {
		return Row{}, e.err
	}
	r.links, err = linksOf(ev, &r)
	return r, err
}

// isNothing reports whether no action is set, so that the column is NULL.
func isNothing(a *actions) bool {
	return a.StateDelta == nil && a.ArtifactDelta == nil && doesNothing(a)
}

// isNewEvent reports whether actions are those of a new event: two empty maps.
func isNewEvent(a *actions) bool {
	return a.StateDelta != nil && len(a.StateDelta) == 0 && a.ArtifactDelta != nil && len(a.ArtifactDelta) == 0 && doesNothing(a)
}

// doesNothing reports whether all actions except the two maps are unset.
func doesNothing(a *actions) bool {
	return a.RequestedToolConfirmations == nil && !a.SkipSummarization && a.TransferToAgent == "" && !a.Escalate
}

// encoder keeps the first error.
type encoder struct{ err error }

// json returns the JSON of a value, or nil for NULL.
func (e *encoder) json(name string, value any, null bool) any {
	if null || e.err != nil {
		return nil
	}
	text, err := JSON(name, value)
	if err != nil {
		e.err = err
		return nil
	}
	return text
}

// JSON returns the JSON of a value, without escaping <, > and &. The name is for errors.
func JSON(name string, value any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("%s cannot be written as JSON: %w", name, err)
	}
	return string(buf.Bytes()[:buf.Len()-1]), nil // without the encoder's newline
}

// Stored is a row as the database returns it.
type Stored struct {
	ID, Time, invocationID, author, branch              string
	content, actions, usage, custom, longRunning, extra []byte

	Seq     int64
	Covered bool
}

// Fields returns the targets of a Scan for [Columns].
func (r *Stored) Fields() []any {
	return []any{&r.ID, &r.Time, &r.invocationID, &r.author, &r.branch,
		&r.content, &r.actions, &r.usage, &r.custom, &r.longRunning, &r.extra, &r.Seq, &r.Covered}
}

// Decode returns the event of a row. It is the inverse of [Encode], apart from the changes that
// JSON makes: values inside maps become JSON's own types, and bytes that are not UTF-8 become U+FFFD.
func Decode(r *Stored) (*session.Event, error) {
	ev := &session.Event{ID: r.ID, InvocationID: r.invocationID, Author: r.author}
	adk.SetLane(ev, r.branch)
	d := decoder{}
	d.json("content", r.content, &ev.Content)
	d.json("usage_metadata", r.usage, &ev.UsageMetadata)
	d.json("custom_metadata", r.custom, &ev.CustomMetadata)
	d.json("long_running_tool_ids", r.longRunning, &ev.LongRunningToolIDs)
	if string(r.actions) == newEventActions {
		ev.Actions.StateDelta, ev.Actions.ArtifactDelta = map[string]any{}, map[string]int64{}
	} else {
		var a actions
		d.json("actions", r.actions, &a)
		a.set(&ev.Actions)
	}
	var x extra
	d.json("extra", r.extra, &x)
	x.set(ev)
	for _, f := range adk.FurtherFields {
		if text := x.Further[f.Name]; text != nil {
			d.json("extra, "+f.Name, text, f.Of(ev).Addr().Interface())
		}
	}
	adk.KeepRecord(ev, x.Further[adk.CompactionName])
	if d.err == nil && x.Exact != nil {
		d.err = x.Exact.restore(ev)
	}
	if d.err == nil {
		ev.Timestamp, d.err = ParseTime(r.Time, x.Time)
	}
	if d.err != nil {
		return nil, fmt.Errorf("event %q: %w", r.ID, d.err)
	}
	return ev, nil
}

// Unknown returns what [Decode] leaves out of a row, because only another version of ADK or of genai has it: the names of
// fields of the event, sorted, and whether a field that the event has holds more than is known of it.
func (r *Stored) Unknown() (fields []string, within bool) {
	var x extra
	if r.extra != nil && json.Unmarshal(r.extra, &x) == nil {
		for name := range x.Further {
			if !slices.ContainsFunc(adk.FurtherFields, func(f adk.Field) bool { return f.Name == name }) {
				fields = append(fields, name)
			}
		}
		slices.Sort(fields)
	}
	for _, column := range []struct {
		text []byte
		into any
	}{
		{r.content, new(genai.Content)}, {r.usage, new(genai.GenerateContentResponseUsageMetadata)}, {r.actions, new(actions)}, {r.extra, new(extra)},
	} {
		if column.text == nil {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(column.text))
		d.DisallowUnknownFields()
		within = within || d.Decode(column.into) != nil
	}
	return fields, within
}

// decoder keeps the first error.
type decoder struct{ err error }

// json decodes a column into a field. NULL leaves the field as it is.
func (d *decoder) json(name string, text []byte, into any) {
	if text == nil || d.err != nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		d.err = fmt.Errorf("column %s: %w", name, err)
	}
}
