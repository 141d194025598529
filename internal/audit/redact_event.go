package audit

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/deepcopy"
	"github.com/adk-go-ext/longsession/record"
)

// Event returns an event without matches, a copy unless r is nil: in every text, name and value that it
// holds, and in what its parts say together. A time is cut to the second if it matches, and a count becomes
// 0. Data that matches, raw or in base64, is left out. A compaction record can be read as one afterwards.
// Whatever matches after that is an error that names it.
func (r *Redactor) Event(ev *session.Event) (*session.Event, error) {
	if r == nil {
		return ev, nil
	}
	out := deepcopy.Of(ev)
	if err := r.take(out); err != nil {
		return nil, fmt.Errorf("event %q: %w", out.ID, err)
	}
	text, err := marshal(out)
	if err != nil {
		return nil, err
	}
	value, err := unmarshal(text)
	if err != nil {
		return nil, err
	}
	if where := r.find(value, "", false); where != "" {
		return nil, fmt.Errorf("event %q: a pattern %w: %s: make the pattern narrower", out.ID, ErrRedact, where)
	}
	return out, nil
}

// take redacts what an event holds, and what it says in more than one piece.
func (r *Redactor) take(ev *session.Event) error {
	stored, keeps := ev.CustomMetadata[record.Key]
	delete(ev.CustomMetadata, record.Key)
	r.walk(reflect.ValueOf(ev).Elem())
	if keeps {
		m, err := r.record(stored)
		if err != nil {
			return err
		}
		ev.CustomMetadata[record.Key] = m
	}
	var heard []*string
	for _, t := range []*genai.Transcription{ev.InputTranscription, ev.OutputTranscription} {
		if t != nil && t.Text != "" {
			heard = append(heard, &t.Text)
		}
	}
	if err := r.parts(ev.Content, heard...); err != nil {
		return err
	}
	return r.joined(" ", &ev.ErrorCode, &ev.ErrorMessage)
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
	jsonType  = reflect.TypeFor[map[string]any]()
)

// walk redacts what a value holds.
func (r *Redactor) walk(v reflect.Value) {
	switch {
	case v.Type() == timeType:
		if at := v.Interface().(time.Time); r.matches(at.Format(time.RFC3339Nano)) {
			v.Set(reflect.ValueOf(at.Truncate(time.Second)))
		}
		return
	case v.Type() == bytesType:
		if data := v.Bytes(); r.matches(string(data)) || r.matches(base64.StdEncoding.EncodeToString(data)) {
			v.SetZero()
		}
		return
	case v.Type() == jsonType && !v.IsNil():
		v.Set(reflect.ValueOf(r.object(v.Interface())))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			r.walk(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			if out := r.value(plain(v.Interface())); out == nil {
				v.SetZero()
			} else {
				v.Set(reflect.ValueOf(out))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				r.walk(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			r.walk(v.Index(i))
		}
	case reflect.Map:
		r.walkMap(v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		if text, err := marshal(v.Interface()); err == nil && r.matches(string(bytes.TrimSpace(text))) {
			v.SetZero()
		}
	}
}

func (r *Redactor) walkMap(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		return // no event has one
	}
	values := map[string]reflect.Value{}
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		r.walk(value)
		values[key.String()] = value
		v.SetMapIndex(key, reflect.Value{})
	}
	for key, name := range r.names(maps.Keys(values)) {
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), values[key])
	}
}

// find returns where in a JSON value something matches, "" if nothing does: with keys also in the names of
// fields. Those of an event are part of the format.
func (r *Redactor) find(value any, at string, keys bool) string {
	switch v := value.(type) {
	case string:
		if r.matches(v) {
			return at + " " + strconv.Quote(v)
		}
	case map[string]any:
		for key, inner := range v {
			if keys && r.matches(key) {
				return at + "." + key
			}
			if where := r.find(inner, at+"."+key, keys); where != "" {
				return where
			}
		}
	case []any:
		for i, inner := range v {
			if where := r.find(inner, fmt.Sprintf("%s[%d]", at, i), keys); where != "" {
				return where
			}
		}
	case nil:
	default:
		if text := fmt.Sprint(v); r.matches(text) {
			return at + " " + text
		}
	}
	return ""
}
