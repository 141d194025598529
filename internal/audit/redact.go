package audit

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/deepcopy"
)

// redacted takes the place of what a pattern matches.
const redacted = "[redacted]"

// ErrRedact is the error of a match that cannot be taken out, such as a flag or the year of a time.
var ErrRedact = errors.New("matches what cannot be left out")

// Redactor takes out what matches any of its patterns. A nil one takes out nothing. It is safe for
// concurrent use.
type Redactor struct{ patterns []*regexp.Regexp }

// NewRedactor compiles regular expressions in Go's syntax; nil for none. A pattern that matches nothing at
// all, or what is put in its place, is refused: its matches could never be gone.
func NewRedactor(patterns []string) (*Redactor, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	r := &Redactor{}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("pattern %q: %w: write it in the syntax of Go's package regexp", p, err)
		case re.MatchString(""):
			return nil, fmt.Errorf("pattern %q matches the empty text, which is everywhere: make it match at least one character", p)
		case re.MatchString(redacted) || re.MatchString(strconv.Quote(redacted)):
			return nil, fmt.Errorf("pattern %q matches %q, which takes the place of what is redacted: make it narrower", p, redacted)
		}
		r.patterns = append(r.patterns, re)
	}
	return r, nil
}

// matches reports whether a text has anything to redact, also where the text is JSON that writes it in
// escapes.
func (r *Redactor) matches(text string) bool {
	for _, re := range r.patterns {
		if re.MatchString(text) {
			return true
		}
	}
	inner, is := asJSON(text)
	return is && r.find(inner, "", true) != ""
}

// Text returns a text without matches.
func (r *Redactor) Text(text string) string {
	if r == nil || !r.matches(text) {
		return text
	}
	if inner, is := asJSON(text); is {
		if out, err := marshal(r.value(inner)); err == nil {
			text = string(bytes.TrimSpace(out))
		}
	}
	// What stands on both sides of a match may match in its turn.
	for range 10 {
		for _, re := range r.patterns {
			text = re.ReplaceAllLiteralString(text, redacted)
		}
		if !r.matches(text) {
			return text
		}
	}
	return redacted
}

// value returns a JSON value without matches. A number or a truth that matches becomes a text.
func (r *Redactor) value(value any) any {
	switch v := value.(type) {
	case string:
		return r.Text(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			out[r.Text(key)] = r.value(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = r.value(inner)
		}
		return out
	case nil:
		return nil
	}
	text, err := marshal(value)
	if err == nil && r.matches(string(bytes.TrimSpace(text))) {
		return redacted
	}
	return value
}

// Event returns an event without matches, a copy unless r is nil: in every text, name and value that it
// holds. A time is cut to the second if it matches, and a count becomes 0. Data that matches, raw or in
// base64, is left out. Whatever matches after that is an error that names it.
func (r *Redactor) Event(ev *session.Event) (*session.Event, error) {
	if r == nil {
		return ev, nil
	}
	out := deepcopy.Of(ev)
	r.walk(reflect.ValueOf(out).Elem())
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

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
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
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		r.walk(value)
		v.SetMapIndex(key, reflect.Value{})
		if key.Kind() == reflect.String {
			key = reflect.ValueOf(r.Text(key.String())).Convert(key.Type())
		}
		v.SetMapIndex(key, value)
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
