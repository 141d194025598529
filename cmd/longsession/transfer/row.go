package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// row is an event as ADK's table events has it. A JSON column is nil for NULL.
type row struct {
	id, invocation, author, branch, errorCode, errorMessage        string
	time                                                           time.Time
	actions, longRunning, content, grounding, custom, usage, cited []byte
	partial, turnComplete, interrupted                             bool
	scope                                                          string   // "" on ADK v1
	further                                                        [][]byte // in the order of adk.FurtherColumns

	record bool // it is a compaction record
	// unknown is set by event if a column has a field that this version of ADK does not know.
	unknown bool
}

// columns returns the JSON columns.
func (r *row) columns() []*[]byte {
	columns := []*[]byte{&r.actions, &r.longRunning, &r.content, &r.grounding, &r.custom, &r.usage, &r.cited}
	for i := range r.further {
		columns = append(columns, &r.further[i])
	}
	return columns
}

// texts returns the columns of text.
func (r *row) texts() []*string {
	texts := []*string{&r.id, &r.invocation, &r.author, &r.branch, &r.errorCode, &r.errorMessage}
	if adk.Major > 1 {
		texts = append(texts, &r.scope)
	}
	return texts
}

// rowOf returns the row that ADK would store for an event.
func rowOf(ev *session.Event) (*row, error) {
	r := &row{
		id: ev.ID, invocation: ev.InvocationID, author: ev.Author, branch: ev.Branch, errorCode: ev.ErrorCode, errorMessage: ev.ErrorMessage,
		time: ev.Timestamp.UTC().Truncate(time.Microsecond), partial: ev.Partial, turnComplete: ev.TurnComplete, interrupted: ev.Interrupted,
		record: record.Is(ev), scope: adk.ScopeOf(ev), further: make([][]byte, len(adk.FurtherColumns)),
	}
	type column struct {
		to    *[]byte
		value any
		null  bool
	}
	columns := []column{
		{&r.actions, ev.Actions, false},
		{&r.longRunning, ev.LongRunningToolIDs, len(ev.LongRunningToolIDs) == 0},
		{&r.content, ev.Content, ev.Content == nil},
		{&r.grounding, ev.GroundingMetadata, ev.GroundingMetadata == nil},
		{&r.custom, ev.CustomMetadata, len(ev.CustomMetadata) == 0},
		{&r.usage, ev.UsageMetadata, ev.UsageMetadata == nil},
		{&r.cited, ev.CitationMetadata, ev.CitationMetadata == nil},
	}
	for i, c := range adk.FurtherColumns {
		v := c.Of(ev)
		columns = append(columns, column{&r.further[i], v.Interface(), v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0})
	}
	for _, column := range columns {
		if column.null {
			continue
		}
		var err error
		if *column.to, err = json.Marshal(column.value); err != nil {
			return nil, fmt.Errorf("event %q cannot be written as JSON: %w", ev.ID, err)
		}
	}
	return r, nil
}

// event returns the event of a row, as ADK reads it, except that numbers keep all their digits. Fields that it does not know are
// left out, except a record of ADK's own compaction, which the metadata keeps.
func (r *row) event() (*session.Event, error) {
	ev := &session.Event{ID: r.id, InvocationID: r.invocation, Author: r.author, Branch: r.branch, Timestamp: r.time}
	ev.ErrorCode, ev.ErrorMessage = r.errorCode, r.errorMessage
	ev.Partial, ev.TurnComplete, ev.Interrupted = r.partial, r.turnComplete, r.interrupted
	adk.SetScope(ev, r.scope)
	type column struct {
		name string
		text []byte
		to   any
	}
	columns := []column{
		{"actions", r.actions, &ev.Actions},
		{"long_running_tool_ids_json", r.longRunning, &ev.LongRunningToolIDs},
		{"content", r.content, &ev.Content},
		{"grounding_metadata", r.grounding, &ev.GroundingMetadata},
		{"custom_metadata", r.custom, &ev.CustomMetadata},
		{"usage_metadata", r.usage, &ev.UsageMetadata},
		{"citation_metadata", r.cited, &ev.CitationMetadata},
	}
	for i, text := range r.further {
		columns = append(columns, column{adk.FurtherColumns[i].Column, text, adk.FurtherColumns[i].Of(ev).Addr().Interface()})
	}
	inActions := false // a field that this version of ADK does not know
	for _, column := range columns {
		if len(column.text) == 0 || decodeKnown(column.text, column.to) == nil {
			continue
		}
		reflect.ValueOf(column.to).Elem().SetZero() // what came before the field
		if err := decode(column.text, column.to); err != nil {
			return nil, fmt.Errorf("event %q cannot be read: column %s: %w", r.id, column.name, err)
		}
		inActions = inActions || column.name == "actions"
		r.unknown = r.unknown || column.name != "actions"
	}
	kept := adk.KeepCompaction(ev, r.actions)
	r.unknown = r.unknown || inActions && !(kept && knownBesidesCompaction(r.actions))
	return ev, nil
}

// knownBesidesCompaction reports whether this version of ADK knows all fields of actions but the record of a compaction.
func knownBesidesCompaction(actions []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(actions, &fields) != nil {
		return false
	}
	delete(fields, "compaction")
	rest, err := json.Marshal(fields)
	return err == nil && decodeKnown(rest, &session.EventActions{}) == nil
}

// decodeKnown is [decode] with an error for a field that the type does not have.
func decodeKnown(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(to)
}

// digest is over everything that a row has. It is the same for JSON that means the same.
type digest [sha256.Size]byte

func (r *row) digest() (digest, error) {
	h := sha256.New()
	field := func(set bool, text []byte) {
		if !set {
			h.Write([]byte{0})
			return
		}
		h.Write(binary.BigEndian.AppendUint64([]byte{1}, uint64(len(text))))
		h.Write(text)
	}
	for _, text := range r.texts() {
		field(true, []byte(*text))
	}
	field(true, []byte(r.time.UTC().Format(time.RFC3339Nano)))
	fmt.Fprint(h, r.partial, r.turnComplete, r.interrupted)
	for _, column := range r.columns() {
		text, err := canonical(*column)
		if err != nil {
			return digest{}, fmt.Errorf("event %q: %w", r.id, err)
		}
		field(len(*column) > 0, text)
	}
	return digest(h.Sum(nil)), nil
}

// skeleton returns an event with as much as decides where a view shows it: texts are cut, and arguments and results are left
// out. same returns one string for equal ones.
func skeleton(ev *session.Event, same func(string) string) *session.Event {
	const text = 16
	bare := &session.Event{ID: ev.ID, InvocationID: same(ev.InvocationID), Author: same(ev.Author), Branch: same(ev.Branch), Timestamp: ev.Timestamp, LongRunningToolIDs: ev.LongRunningToolIDs}
	adk.SetScope(bare, same(adk.ScopeOf(ev)))
	adk.CopyNode(bare, ev)
	bare.CustomMetadata = packed(ev.CustomMetadata)
	bare.Actions.RequestedToolConfirmations, bare.Actions.TransferToAgent = ev.Actions.RequestedToolConfirmations, ev.Actions.TransferToAgent
	bare.Actions.SkipSummarization = ev.Actions.SkipSummarization
	bare.ErrorCode, bare.Interrupted, bare.TurnComplete = ev.ErrorCode, ev.Interrupted, ev.TurnComplete
	if ev.Content == nil {
		return bare
	}
	bare.Content = &genai.Content{Role: same(ev.Content.Role), Parts: make([]*genai.Part, 0, len(ev.Content.Parts))}
	for _, p := range ev.Content.Parts {
		if p == nil {
			continue
		}
		slim := &genai.Part{Thought: p.Thought, Text: strings.Clone(p.Text[:min(text, len(p.Text))])} // a part of a string keeps all of it
		if p.FunctionCall != nil {
			slim.FunctionCall = &genai.FunctionCall{ID: p.FunctionCall.ID, Name: same(p.FunctionCall.Name)}
			if id := adk.ConfirmedCall(p.FunctionCall); id != "" {
				slim.FunctionCall.Args = map[string]any{"originalFunctionCall": map[string]any{"id": id}}
			}
		}
		if p.FunctionResponse != nil {
			slim.FunctionResponse = &genai.FunctionResponse{ID: p.FunctionResponse.ID, Name: same(p.FunctionResponse.Name), WillContinue: p.FunctionResponse.WillContinue}
		}
		if p.InlineData != nil {
			slim.InlineData = &genai.Blob{MIMEType: p.InlineData.MIMEType}
		}
		if p.FileData != nil {
			slim.FileData = p.FileData
		}
		bare.Content.Parts = append(bare.Content.Parts, slim)
	}
	return bare
}

// packed returns the metadata of an event with its record as text, which takes a small part of the memory and which views
// read as well.
func packed(custom map[string]any) map[string]any {
	object, ok := custom[record.Key].(map[string]any)
	if !ok {
		return custom
	}
	text, err := json.Marshal(object)
	if err != nil {
		return custom
	}
	out := maps.Clone(custom)
	out[record.Key] = string(text)
	return out
}

// order gives events strictly increasing times, as ADK's service needs to read them in this order. Only a record behind
// an event that is none may have the time of its predecessor.
type order struct {
	last       time.Time
	lastRecord bool
}

// next moves the row if it must, and returns by how much.
func (o *order) next(r *row) time.Duration {
	earliest := o.last.Add(time.Microsecond)
	if r.record && !o.lastRecord {
		earliest = o.last
	}
	var moved time.Duration
	if !o.last.IsZero() && r.time.Before(earliest) {
		moved = earliest.Sub(r.time)
		r.time = earliest
	}
	o.last, o.lastRecord = r.time, r.record
	return moved
}

// sumOf returns the digest of two digests.
func sumOf(a, b digest) digest { return sha256.Sum256(append(a[:], b[:]...)) }
