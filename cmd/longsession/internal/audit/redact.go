package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// ErrRedact is the error of a match that cannot be redacted, such as a bool or the year of a time.
// Its text names the event and the field, but not the match.
var ErrRedact = errors.New("a pattern matches a value that cannot be redacted: make the pattern narrower")

// redaction redacts one export. With a nil Redactor it changes nothing. It is not safe for
// concurrent use.
type redaction struct {
	*redact.Redactor
	// names has the replacement of each name with a match. The same name gets the same replacement
	// in every event, and different names get different ones, so that responses still name their
	// calls, and records their events.
	names map[string]string
	used  map[string]int // by replacement without its number, how many names have it
	cuts  cuts
}

func newRedaction(r *redact.Redactor) *redaction {
	return &redaction{Redactor: r, names: map[string]string{}, used: map[string]int{}}
}

// name redacts a text that other events refer to: an ID, an author or a branch. Of a branch with an isolation scope it
// redacts each by itself, because the scope is the ID of a call.
func (x *redaction) name(text string) string {
	if x.Redactor == nil {
		return text
	}
	if branch, scope := adk.SplitLane(text); scope != "" {
		return adk.JoinLane(x.name(branch), x.name(scope))
	}
	if name, known := x.names[text]; known {
		return name
	}
	name := x.Text(text)
	if name == text {
		return text
	}
	plain := name
	if x.used[plain]++; x.used[plain] > 1 {
		if name = fmt.Sprintf("%s %d", plain, x.used[plain]); x.Matches(name) {
			name = strings.Repeat(redact.Mark, x.used[plain]) // the number is a match
		}
	}
	x.names[text] = name
	return name
}

// session returns a copy of a session without matches, including those across app, user and ID.
func (x *redaction) session(s *Session) *Session {
	named := *s
	named.App, named.User, named.ID, named.Created = x.Text(s.App), x.Text(s.User), x.Text(s.ID), x.Text(s.Created)
	if len(s.Children) > 0 {
		named.ID = x.name(s.ID)
	}
	if s.Parent != "" { // it stays named after its parent and the call, as the events have them
		if id := x.name(s.Parent) + subtask + x.name(s.Call); !x.Matches(id) {
			named.ID = id
		}
	}
	x.Joined("/", &named.App, &named.User, &named.ID)
	return &named
}

// event returns a copy of an event without matches in its texts, names and values, and across its
// parts. A time that matches is cut to the second, a count becomes 0, and data is left out. A
// compaction record stays readable.
func (x *redaction) event(ev *session.Event) (*session.Event, error) {
	if x.Redactor == nil {
		return ev, nil
	}
	if err := x.remember(ev); err != nil {
		return nil, err
	}
	out := adk.DeepCopy(ev)
	stored, keeps := out.CustomMetadata[record.Key]
	delete(out.CustomMetadata, record.Key)
	x.walk(reflect.ValueOf(out).Elem(), false)
	x.parts(out.Content, out.InputTranscription, out.OutputTranscription)
	x.Joined(" ", &out.ErrorCode, &out.ErrorMessage)
	if keeps {
		m, err := x.record(stored)
		if err != nil {
			return nil, err
		}
		out.CustomMetadata[record.Key] = m
	}
	return out, nil
}

// remember notes the matches in an event that is not a record, for the summaries that quote it.
func (x *redaction) remember(ev *session.Event) error {
	if record.Is(ev) {
		return nil
	}
	line, err := marshal(ev)
	if err != nil {
		return err
	}
	tokens, err := redact.Tokens(string(line))
	for _, t := range tokens {
		x.cuts.remember(x.Redactor, t.Text)
	}
	x.cuts.rememberWhole(x.Redactor, string(line), tokens)
	return err
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
)

// referred are the fields through which events, calls and records refer to one another.
var referred = []string{"ID", "InvocationID", "Author", "Branch", "IsolationScope", "LongRunningToolIDs", "TransferToAgent", "Name",
	"RecordID", "Absorbed", "StartInvocationID", "EndInvocationID", "Agent", "Event"}

// walk redacts a value. With names, its texts are names.
func (x *redaction) walk(v reflect.Value, names bool) {
	switch v.Type() {
	case timeType:
		if at := v.Interface().(time.Time); x.Matches(at.Format(time.RFC3339Nano)) {
			v.Set(reflect.ValueOf(at.Truncate(time.Second)))
		}
		return
	case bytesType:
		if x.Data(v.Bytes()) {
			v.SetZero()
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if names {
			v.SetString(x.name(v.String()))
		} else {
			v.SetString(x.Text(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			x.walk(v.Elem(), names)
		}
	case reflect.Interface:
		if out := x.Value(v.Interface()); out != nil {
			v.Set(reflect.ValueOf(out))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				x.walk(v.Field(i), slices.Contains(referred, v.Type().Field(i).Name))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			x.walk(v.Index(i), names)
		}
	case reflect.Map:
		x.walkMap(v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		if text, err := marshal(v.Interface()); err == nil && x.Matches(string(text)) {
			v.SetZero()
		}
	}
}

// walkMap redacts a map: as one JSON value if it can hold anything, else key by key.
func (x *redaction) walkMap(v reflect.Value) {
	switch {
	case v.IsNil():
	case v.Type().Elem().Kind() == reflect.Interface:
		if out, is := x.Value(v.Interface()).(map[string]any); is {
			v.Set(reflect.ValueOf(out))
		} else {
			v.Set(reflect.ValueOf(map[string]any{redact.Mark: redact.Mark}))
		}
	default:
		out := reflect.MakeMap(v.Type())
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			x.walk(value, false)
			if key.Kind() == reflect.String {
				key = reflect.ValueOf(x.name(key.String())).Convert(key.Type())
			}
			out.SetMapIndex(key, value)
		}
		v.Set(out)
	}
}

// parts redacts matches across the parts of a message, and across its thoughts. It joins the parts
// with a line break, as documents show them; with nothing, as a model streams them; and with a
// blank, as words.
func (x *redaction) parts(content *genai.Content, heard ...*genai.Transcription) {
	said := map[bool][]*string{} // by whether it was thought
	for _, t := range heard {
		if t != nil {
			said[false] = append(said[false], &t.Text)
		}
	}
	if content != nil {
		for _, part := range content.Parts {
			if part != nil && part.Text != "" {
				said[part.Thought] = append(said[part.Thought], &part.Text)
			}
		}
	}
	for _, sep := range []string{"\n", "", " "} {
		x.Joined(sep, said[false]...)
		x.Joined(sep, said[true]...)
	}
}

// record returns a stored compaction record without matches in its summary, values, names, focus and note.
// It redacts an unreadable record like any other value.
func (x *redaction) record(stored any) (any, error) {
	m, err := record.Decode(stored)
	if err != nil {
		return x.cuts.all(x.Value(stored)), nil
	}
	known, kind, text := record.Encode(m), m.Kind, m.CompactedContentJSON
	m.CompactedContentJSON = ""
	x.walk(reflect.ValueOf(m).Elem(), false)
	m.Kind = kind // a word of the format, without which the record is unreadable
	m.Focus, m.Note, m.Uncut = x.cuts.take(m.Focus), x.cuts.take(m.Note), x.cuts.take(m.Uncut)
	for i := range m.Values {
		m.Values[i].Text = x.cuts.value(m.Values[i].Text)
	}
	for i := range m.Said {
		m.Said[i].Text = x.cuts.said(m.Said[i].Text)
	}
	if m.EndTimestamp.Before(m.StartTimestamp) {
		m.StartTimestamp = m.StartTimestamp.Truncate(time.Second)
	}
	var content genai.Content
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		m.CompactedContentJSON = x.cuts.take(x.Text(text))
	} else {
		x.walk(reflect.ValueOf(&content).Elem(), false)
		x.parts(&content)
		for _, part := range content.Parts {
			if part != nil {
				part.Text = x.cuts.take(part.Text)
			}
		}
		summary, err := json.Marshal(&content)
		if err != nil {
			return nil, err
		}
		m.CompactedContentJSON = string(summary)
	}
	out, more := record.Encode(m), map[string]any{}
	if object, is := stored.(map[string]any); is {
		maps.Copy(more, object)
		maps.DeleteFunc(more, func(key string, _ any) bool { return known[key] != nil })
	}
	if redacted, is := x.cuts.all(x.Value(more)).(map[string]any); is {
		maps.Copy(out, redacted)
	}
	if _, err := record.Decode(out); err != nil {
		return nil, fmt.Errorf("%w: without it the record would be unreadable", ErrRedact)
	}
	return out, nil
}

// check searches a JSON line again before it is written. A match within the name of a field does
// not count, since that is a word of the format. Any other match is an error.
func (x *redaction) check(line string) error {
	spans := x.Spans(line)
	if len(spans) == 0 {
		return nil
	}
	tokens, err := redact.Tokens(line)
	if err != nil {
		return err
	}
	for _, s := range spans {
		hit := slices.DeleteFunc(slices.Clone(tokens), func(t redact.Token) bool { return !redact.Overlaps([][]int{s}, t.From, t.To) })
		if len(hit) > 1 || len(hit) == 1 && !hit[0].Key {
			return fmt.Errorf("field %s: %w", strconv.Quote(x.Text(hit[len(hit)-1].Path)), ErrRedact)
		}
	}
	return nil
}

// redactedError is an error with a redacted text.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// err returns an error without matches in its text.
func (x *redaction) err(err error) error {
	if err == nil || !x.Matches(err.Error()) {
		return err
	}
	return &redactedError{x.Text(err.Error()), err}
}
