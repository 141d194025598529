package eventrow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// WithDigits replaces numbers of an event that float64 cannot represent exactly with the digits in
// the columns of its row. For example, the account number 12345678901234567890 decodes as the
// float64 12345678901234567000. It does not change records, whose numbers are all float64.
func WithDigits(ev *session.Event, r *Stored) error {
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
		return fmt.Errorf("event %q: %w", r.ID, d.err)
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
	return furtherDigits(ev, r)
}

// furtherDigits replaces the numbers in the fields that only some versions of ADK have, where their types leave the form
// of a value open: an output, and what is shown beside a question to the user.
func furtherDigits(ev *session.Event, r *Stored) error {
	if len(adk.FurtherFields) == 0 || !bytes.Contains(r.extra, []byte(`"further"`)) {
		return nil
	}
	var x extra
	d := exactDecoder{}
	d.json("extra", r.extra, &x)
	for _, f := range adk.FurtherFields {
		if text := x.Further[f.Name]; text != nil {
			exact := reflect.New(f.Of(ev).Type())
			d.json("extra, "+f.Name, text, exact.Interface())
			if d.err == nil {
				copyDigits(f.Of(ev), exact.Elem())
			}
		}
	}
	if d.err != nil {
		return fmt.Errorf("event %q: %w", r.ID, d.err)
	}
	return nil
}

// copyDigits copies a value of any type, or those directly in a struct.
func copyDigits(into, from reflect.Value) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() && !into.IsNil() {
			copyDigits(into.Elem(), from.Elem())
		}
	case reflect.Struct:
		for i := range from.NumField() {
			if f := from.Type().Field(i); f.IsExported() && f.Type.Kind() == reflect.Interface {
				copyDigits(into.Field(i), from.Field(i))
			}
		}
	case reflect.Interface:
		if !from.IsNil() && from.NumMethod() == 0 {
			into.Set(reflect.ValueOf(shortest(from.Interface())))
		}
	}
}

// setDigits replaces the numbers of a part.
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

// shortest turns each number of a JSON value into a float64 if JSON writes that float64 with the
// same digits.
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

// json decodes a column, unless it has none of the words. Without words, it decodes every column.
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
