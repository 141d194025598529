package record

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// need is whether a field is required.
type need bool

const (
	required need = true
	optional need = false
)

// decoder reads the fields of one object. It keeps the first error and returns zero values after
// it.
type decoder struct {
	object map[string]any
	err    error
}

// fail names a number, and of all else the type: a text may be of the conversation.
func (d *decoder) fail(field, want string, got any) {
	if d.err != nil {
		return
	}
	shown := fmt.Sprintf("%T", got)
	if n, ok := got.(float64); ok {
		shown = fmt.Sprint(n)
	}
	d.err = fmt.Errorf("%w: %s: want %s, got %s", ErrMalformed, field, want, shown)
}

func (d *decoder) text(field string, n need) string {
	value, ok := d.object[field]
	if !ok && n == optional {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		d.fail(field, "a string", value)
	}
	return text
}

// number accepts every type that a backend may use for a number: float64 from JSON, int and int64
// from in-memory services, json.Number from decoders that were configured for it.
func (d *decoder) number(field string, n need) float64 {
	value, ok := d.object[field]
	if !ok && n == optional {
		return 0
	}
	switch v := value.(type) {
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	d.fail(field, "a number", value)
	return 0
}

// integer accepts whole numbers from 0 to 2^53, the range that float64 holds exactly.
func (d *decoder) integer(field string, n need) int {
	v := d.number(field, n)
	if v != math.Trunc(v) || v < 0 || v > 1<<53 {
		d.fail(field, "a whole number from 0", v)
		return 0
	}
	return int(v)
}

func (d *decoder) time(field string, n need) time.Time {
	text := d.text(field, n)
	if text == "" && n == optional {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		d.fail(field, "an RFC 3339 time", d.object[field])
	}
	return storable(t)
}

func (d *decoder) list(field string) []any {
	value, ok := d.object[field]
	if !ok || value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		d.fail(field, "a list", value)
	}
	return list
}

func (d *decoder) texts(field string) []string {
	list := d.list(field)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, value := range list {
		text, ok := value.(string)
		if !ok || text == "" {
			d.fail(field, "a list of record IDs", value)
		}
		out[i] = text
	}
	return out
}

func (d *decoder) refs(field string) []Ref {
	list := d.list(field)
	if len(list) == 0 {
		return nil
	}
	out := make([]Ref, len(list))
	for i, value := range list {
		out[i] = d.asRef(field, value)
	}
	return out
}

// ref reads one event reference. It returns the zero reference for a missing field.
func (d *decoder) ref(field string) Ref {
	value, ok := d.object[field]
	if !ok {
		return Ref{}
	}
	return d.asRef(field, value)
}

func (d *decoder) asRef(field string, value any) Ref {
	object, ok := value.(map[string]any)
	if !ok {
		d.fail(field, "an event reference", value)
		return Ref{}
	}
	in := decoder{object: object}
	ref := Ref{
		ID:           in.text(fRefID, optional),
		InvocationID: in.text(fRefInvocationID, optional),
		Timestamp:    in.time(fRefTimestamp, optional),
		Author:       in.text(fRefAuthor, optional),
	}
	if in.err != nil && d.err == nil {
		d.err = in.err
	}
	return ref
}

func (d *decoder) usage(field string) Usage {
	value, ok := d.object[field]
	if !ok {
		return Usage{}
	}
	object, ok := value.(map[string]any)
	if !ok {
		d.fail(field, "an object", value)
		return Usage{}
	}
	in := decoder{object: object}
	usage := Usage{PromptTokens: in.integer(fPromptTokens, optional), OutputTokens: in.integer(fOutputTokens, optional)}
	if in.err != nil && d.err == nil {
		d.err = in.err
	}
	return usage
}
