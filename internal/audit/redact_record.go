package audit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/deepcopy"
	"github.com/adk-go-ext/longsession/record"
)

// fullRecord has every field that a record may have.
var fullRecord = record.Encode(&record.Metadata{
	StartInvocationID: "x", EndInvocationID: "x", Covered: []record.Ref{{ID: "x"}}, Through: record.Ref{ID: "x"}, After: record.Ref{ID: "x"},
	Agent: "x", Focus: "x", Note: "x", Model: "x", Usage: record.Usage{PromptTokens: 1, OutputTokens: 1},
})

// record returns a compaction record as it is stored, without matches. It can be read as a record still: what
// counts becomes 0, times are cut to the second, and the names of its fields stay. One that could not be read
// before is a value like any other.
func (r *Redactor) record(stored any) (any, error) {
	m, err := record.Decode(stored)
	if err != nil {
		return r.value(plain(stored)), nil
	}
	out := deepcopy.Of(m)
	out.CompactedContentJSON = "" // JSON of a known form, whose names stay
	r.walk(reflect.ValueOf(out).Elem())
	out.Kind = m.Kind // a word of the format: without it nobody can read the record
	if out.EndTimestamp.Before(out.StartTimestamp) {
		out.StartTimestamp = out.StartTimestamp.Truncate(time.Second)
	}
	if out.CompactedContentJSON, err = r.summary(m.CompactedContentJSON); err != nil {
		return nil, err
	}
	encoded := record.Encode(out)
	if object, is := stored.(map[string]any); is {
		more := map[string]any{}
		for key, value := range object {
			if _, known := fullRecord[key]; !known {
				more[key] = value
			}
		}
		for key, value := range r.object(more) {
			encoded[key] = value
		}
	}
	if _, err := record.Decode(encoded); err != nil {
		return nil, fmt.Errorf("a pattern %w: without it %w: make the pattern narrower", ErrRedact, err)
	}
	return encoded, nil
}

// summary returns the content of a record, as JSON, without matches.
func (r *Redactor) summary(text string) (string, error) {
	var content genai.Content
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		return r.Text(text), nil
	}
	r.walk(reflect.ValueOf(&content).Elem())
	if err := r.parts(&content); err != nil {
		return "", err
	}
	out, err := json.Marshal(&content)
	return string(out), err
}

// parts redacts what the parts of a message say together, and what its thoughts say.
func (r *Redactor) parts(content *genai.Content, first ...*string) error {
	said, thought := first, []*string(nil)
	if content != nil {
		for _, part := range content.Parts {
			switch {
			case part == nil || part.Text == "":
			case part.Thought:
				thought = append(thought, &part.Text)
			default:
				said = append(said, &part.Text)
			}
		}
	}
	// As they are shown, as a model that sends its answer in pieces means them, and as words.
	for _, sep := range []string{"\n", "", " "} {
		for _, texts := range [][]*string{said, thought} {
			if err := r.joined(sep, texts...); err != nil {
				return err
			}
		}
	}
	return nil
}
