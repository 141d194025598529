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

// ErrRedact is the error of a match that cannot be taken out, such as a flag or the year of a time. Its text
// names the event and the field, and nothing of the match.
var ErrRedact = errors.New("a pattern matches what cannot be left out: make the pattern narrower")

// redaction redacts one export. A nil Redactor leaves everything as it is. It is not safe for concurrent use.
type redaction struct {
	*redact.Redactor
	// names has what each name with a match has become: the same name the same in every event, and no two the
	// same, so that answers still name their calls and records their events.
	names map[string]string
	used  map[string]int // how many names became this one
	cuts  cuts
}

func newRedaction(r *redact.Redactor) *redaction {
	return &redaction{Redactor: r, names: map[string]string{}, used: map[string]int{}}
}

// name redacts what other events refer to: an ID, an author or a branch.
func (x *redaction) name(text string) string {
	if x.Redactor == nil {
		return text
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
			name = strings.Repeat(redact.Mark, x.used[plain]) // the number itself matches
		}
	}
	x.names[text] = name
	return name
}

// session returns a session as an export names it, also without what matches across app, user and ID.
func (x *redaction) session(s *Session) *Session {
	named := *s
	named.App, named.User, named.ID, named.Created = x.Text(s.App), x.Text(s.User), x.Text(s.ID), x.Text(s.Created)
	x.Joined("/", &named.App, &named.User, &named.ID)
	return &named
}

// event returns a copy of an event without matches: in every text, name and value that it holds, and in what its
// parts say together. A time that matches is cut to the second, a count becomes 0, and data is left out. A
// compaction record can be read as one afterwards.
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

// remember notes what matches in an event that is no record, for the summaries that quote it.
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
		said := t.Said()
		if said == "" {
			said = string(line[t.From:t.To]) // a number
		}
		x.cuts.remember(x.Redactor, said)
	}
	return err
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	bytesType = reflect.TypeFor[[]byte]()
)

// referred are the fields by which events, calls and records refer to each other.
var referred = []string{"ID", "InvocationID", "Author", "Branch", "LongRunningToolIDs", "TransferToAgent", "Name",
	"RecordID", "Absorbed", "StartInvocationID", "EndInvocationID", "Agent"}

// walk redacts what a value holds. With names, its texts are names.
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

// walkMap redacts a map: as one value of JSON where anything may stand in it, else key by key.
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

// parts redacts what the parts of a message say together, and what its thoughts say: as they are shown, as a model
// that sends its answer in pieces means them, and as words.
func (x *redaction) parts(content *genai.Content, heard ...*genai.Transcription) {
	var said, thought []*string
	for _, t := range heard {
		if t != nil {
			said = append(said, &t.Text)
		}
	}
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
	for _, sep := range []string{"\n", "", " "} {
		x.Joined(sep, said...)
		x.Joined(sep, thought...)
	}
}

// fieldsOfRecord are the names of all fields that a record may have.
var fieldsOfRecord = record.Encode(&record.Metadata{
	StartInvocationID: "x", EndInvocationID: "x", Covered: []record.Ref{{ID: "x"}}, Through: record.Ref{ID: "x"}, After: record.Ref{ID: "x"},
	Agent: "x", Focus: "x", Note: "x", Model: "x", Usage: record.Usage{PromptTokens: 1, OutputTokens: 1},
})

// record returns a compaction record as it is stored, without matches in its summary, names, focus and note. One
// that could not be read before is a value like any other.
func (x *redaction) record(stored any) (any, error) {
	m, err := record.Decode(stored)
	if err != nil {
		return x.Value(stored), nil
	}
	kind, text := m.Kind, m.CompactedContentJSON
	m.CompactedContentJSON = ""
	x.walk(reflect.ValueOf(m).Elem(), false)
	m.Kind = kind // a word of the format: without it nobody can read the record
	m.Focus, m.Note = x.cuts.take(m.Focus), x.cuts.take(m.Note)
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
		maps.DeleteFunc(more, func(key string, _ any) bool { _, known := fieldsOfRecord[key]; return known })
	}
	if redacted, is := x.Value(more).(map[string]any); is {
		maps.Copy(out, redacted)
	}
	if _, err := record.Decode(out); err != nil {
		return nil, fmt.Errorf("%w: the record could not be read without it", ErrRedact)
	}
	return out, nil
}

// check looks once more at a line of JSON before it is written. Names of fields are words of the format: a match
// within one is none. Any other is an error.
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
		var hit []redact.Token
		for _, t := range tokens {
			if redact.Overlaps([][]int{s}, t.From, t.To) {
				hit = append(hit, t)
			}
		}
		if len(hit) > 1 || len(hit) == 1 && !hit[0].Key {
			return fmt.Errorf("field %s: %w", strconv.Quote(x.Text(hit[len(hit)-1].Path)), ErrRedact)
		}
	}
	return nil
}

// redactedError is an error whose text has no match.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// err returns an error that quotes nothing that matches.
func (x *redaction) err(err error) error {
	if err == nil || !x.Matches(err.Error()) {
		return err
	}
	return &redactedError{x.Text(err.Error()), err}
}
