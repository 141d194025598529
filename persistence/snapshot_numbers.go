package persistence

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// withDigits puts the numbers into an event that the columns of its row have and a float64 cannot hold, such
// as the number of an account. Records are left alone: their numbers are float64.
func withDigits(ev *session.Event, r *stored) error {
	var content *genai.Content
	var a actions
	var custom map[string]any
	d := exactDecoder{}
	d.json("content", r.content, &content, "function", "partMetadata")
	d.json("actions", r.actions, &a)
	if !record.Is(ev) {
		d.json("custom_metadata", r.custom, &custom)
	}
	if d.err != nil {
		return fmt.Errorf("event %q: %w", r.id, d.err)
	}
	if content != nil {
		for i, part := range content.Parts {
			if part != nil {
				setDigits(ev.Content.Parts[i], part)
			}
		}
	}
	replace(ev.Actions.StateDelta, a.StateDelta)
	for id, asked := range a.RequestedToolConfirmations {
		asked.Payload = shortest(asked.Payload)
		ev.Actions.RequestedToolConfirmations[id] = asked
	}
	replace(ev.CustomMetadata, custom)
	return nil
}

func setDigits(into, from *genai.Part) {
	if from.FunctionCall != nil {
		replace(into.FunctionCall.Args, from.FunctionCall.Args)
	}
	if from.FunctionResponse != nil {
		replace(into.FunctionResponse.Response, from.FunctionResponse.Response)
	}
	replace(into.PartMetadata, from.PartMetadata)
}

func replace(into, from map[string]any) {
	for key, value := range from {
		into[key] = shortest(value)
	}
}

// shortest makes float64 of the numbers in a JSON value that JSON would write just so.
func shortest(value any) any {
	switch v := value.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			if text, err := json.Marshal(f); err == nil && string(text) == v.String() {
				return f
			}
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = shortest(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = shortest(inner)
		}
	}
	return value
}

// exactDecoder keeps the first error.
type exactDecoder struct{ err error }

// json decodes a column that can hold numbers of its own: one with any of the words, if there are some.
func (d *exactDecoder) json(name string, text []byte, into any, words ...string) {
	if d.err != nil || text == nil || string(text) == newEventActions {
		return
	}
	has := len(words) == 0
	for _, word := range words {
		has = has || bytes.Contains(text, []byte(word))
	}
	if !has {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		d.err = fmt.Errorf("column %s: %w", name, err)
	}
}
