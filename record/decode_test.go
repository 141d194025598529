package record_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

func TestMalformedRecordIsRefused(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	drop := func(field string) object { o := record.Encode(full()); delete(o, field); return o }
	set := func(field string, value any) object { o := record.Encode(full()); o[field] = value; return o }
	standsFor := func(covered, absorbed any) object { o := set("covered", covered); o["absorbed"] = absorbed; return o }
	ref := func(field string, value any) object { return set("covered", []any{object{field: value}}) }
	content := func(text string) object { return set("compacted_content_json", text) }
	for name, value := range map[string]any{
		"nil":                         nil,
		"a number":                    1.0,
		"a list":                      []any{record.Encode(full())},
		"a typed map":                 map[string]string{"version": "1"},
		"broken JSON":                 `{"version":1`,
		"JSON null":                   `null`,
		"JSON list":                   `[]`,
		"empty":                       object{},
		"no version":                  drop("version"),
		"version 2":                   set("version", 2.0),
		"version 0":                   set("version", 0.0),
		"version 1.5":                 set("version", 1.5),
		"version as text":             set("version", "1"),
		"no record ID":                drop("record_id"),
		"empty record ID":             set("record_id", ""),
		"record ID a number":          set("record_id", 1.0),
		"no kind":                     drop("kind"),
		"unknown kind":                set("kind", "note"),
		"no start":                    drop("start_timestamp"),
		"start a number":              set("start_timestamp", 1.7e18),
		"start no time":               set("start_timestamp", "yesterday"),
		"no end":                      drop("end_timestamp"),
		"end before start":            set("end_timestamp", "1999-01-01T00:00:00Z"),
		"no time of making":           drop("created_at"),
		"empty time of making":        set("created_at", ""),
		"no content":                  drop("compacted_content_json"),
		"content an object":           set("compacted_content_json", object{}),
		"content broken":              content(`{"parts":`),
		"content without parts":       content(`{}`),
		"content with empty parts":    content(`{"parts":[]}`),
		"content with a nil part":     content(`{"parts":[null]}`),
		"content of blanks":           content(`{"parts":[{"text":" \n\t"}]}`),
		"content of thoughts":         content(`{"parts":[{"text":"hm","thought":true}]}`),
		"content of a call":           content(`{"parts":[{"functionCall":{"name":"t"}}]}`),
		"count negative":              set("event_count", -1.0),
		"count broken":                set("event_count", 1.5),
		"count NaN":                   set("event_count", math.NaN()),
		"count endless":               set("event_count", math.Inf(1)),
		"count beyond float64":        set("event_count", math.Pow(2, 60)),
		"count as text":               set("event_count", "12"),
		"ratio NaN":                   set("compression_ratio", math.NaN()),
		"ratio negative":              set("compression_ratio", -0.5),
		"level nil":                   set("level", nil),
		"branch a number":             set("branch", 1.0),
		"stands for nothing":          standsFor([]any{}, []any{}),
		"stands for nil":              standsFor(nil, nil),
		"covered an object":           set("covered", object{}),
		"covered of text":             set("covered", []any{"event-1"}),
		"covered of nil":              set("covered", []any{nil}),
		"reference's ID a number":     ref("id", 1.0),
		"reference's time a number":   ref("timestamp", 1.0),
		"reference's time no time":    ref("timestamp", "soon"),
		"absorbed of numbers":         set("absorbed", []any{1.0}),
		"absorbed an empty ID":        set("absorbed", []any{""}),
		"through text":                set("through", "event-1"),
		"after nil":                   set("after", nil),
		"after without agent":         drop("agent"),
		"after with the user's name":  set("agent", "user"),
		"after with an empty agent":   set("agent", ""),
		"usage a number":              set("usage", 1.0),
		"usage negative":              set("usage", object{"prompt_tokens": -1.0}),
		"focus a number":              set("focus", 1.0),
		"content and version 2, text": `{"version":2,"record_id":"r"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := record.Decode(value)
			if m != nil || !errors.Is(err, record.ErrMalformed) {
				t.Errorf("read as %+v, %v; want ErrMalformed", m, err)
			}
		})
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	object := record.Encode(full())
	object["added_later"] = true
	if _, err := record.Decode(object); err != nil {
		t.Error(err)
	}
}

func TestTextJoinsProseAndLeavesThoughtsOut(t *testing.T) {
	t.Parallel()
	m := &record.Metadata{CompactedContentJSON: `{"parts":[{"text":"hm","thought":true},null,{"text":"one"},{"text":" "},{"text":"two"}]}`}
	if got, err := m.Text(); err != nil || got != "one\ntwo" {
		t.Errorf("text is %q, %v", got, err)
	}
	for _, prose := range []string{"plain", "</script> \u2028 \x00 \"quoted\"", "世界"} {
		if err := m.SetText(prose); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Text(); err != nil || got != prose {
			t.Errorf("%q became %q, %v", prose, got, err)
		}
	}
}

func TestOnlySilentEventsAreBookkeeping(t *testing.T) {
	t.Parallel()
	carrying := func(change func(*session.Event)) *session.Event {
		ev := &session.Event{}
		record.Set(ev, small())
		change(ev)
		return ev
	}
	words := genai.NewContentFromText("hello", genai.RoleUser)
	for name, r := range map[string]struct {
		ev   *session.Event
		want bool
	}{
		"nil":                    {nil, false},
		"empty":                  {&session.Event{}, false},
		"other metadata":         {&session.Event{LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"a2a:task_id": "t"}}}, false},
		"record":                 {carrying(func(*session.Event) {}), true},
		"record, content empty":  {carrying(func(ev *session.Event) { ev.Content = &genai.Content{} }), true},
		"unreadable record":      {carrying(func(ev *session.Event) { ev.CustomMetadata[record.Key] = nil }), true},
		"a message that claims":  {carrying(func(ev *session.Event) { ev.Content = words }), false},
		"speech that claims":     {carrying(func(ev *session.Event) { ev.InputTranscription = &genai.Transcription{Text: "hello"} }), false},
		"an answer that claims":  {carrying(func(ev *session.Event) { ev.OutputTranscription = &genai.Transcription{Text: "hello"} }), false},
		"a nil part that claims": {carrying(func(ev *session.Event) { ev.Content = &genai.Content{Parts: []*genai.Part{nil}} }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := record.Is(r.ev); got != r.want {
				t.Errorf("Is returns %v", got)
			}
			m, err := record.From(r.ev)
			if !r.want && (m != nil || err != nil) {
				t.Errorf("From returns %v, %v for what is no record", m, err)
			}
			if r.want && (m == nil) == (err == nil) {
				t.Errorf("From returns %v, %v", m, err)
			}
		})
	}
}

// Events of one model response share their metadata map, and in-memory services share it with the
// caller.
func TestSetDoesNotWriteToASharedMap(t *testing.T) {
	t.Parallel()
	shared := map[string]any{"other": "kept"}
	a := &session.Event{LLMResponse: model.LLMResponse{CustomMetadata: shared}}
	record.Set(a, small())
	if len(shared) != 1 {
		t.Errorf("the shared map holds %v", shared)
	}
	if a.CustomMetadata["other"] != "kept" || !record.Is(a) {
		t.Errorf("the event's metadata is %v", a.CustomMetadata)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`null`, `{}`, `{"version":1}`,
		`{"version":1,"record_id":"r","kind":"summary","start_timestamp":"0000-01-01T00:00:00+14:00","end_timestamp":"9999-12-31T23:59:59-14:00","created_at":"2026-01-01T00:00:00,5Z","compacted_content_json":"{\"parts\":[{\"text\":\"x\"}]}","absorbed":["a"]}`,
		`{"version":1,"record_id":"r","kind":"checkpoint","start_timestamp":"2026-01-01T00:00:00Z","end_timestamp":"2026-01-01T00:00:00Z","created_at":"2026-01-01T00:00:00Z","compacted_content_json":"{\"PARTS\":[{\"Text\":\"x\"}]}","covered":[{}],"after":{"id":"e"},"agent":"a","through":{},"usage":{"prompt_tokens":1},"level":1e3,"compression_ratio":0.1}`,
		`{"version":1,"record_id":"r","kind":"summary","start_timestamp":"2026-01-01T00:00:00Z","end_timestamp":"2026-01-01T00:00:00Z","created_at":"2026-01-01T00:00:00Z","compacted_content_json":"{\"parts\":[{\"text\":\"x\"}]}","absorbed":["a"],"ledger_tokens":600,"values":[{"t":"ORD-17","k":"identifier","by":"user","e":"e1","at":"2026-01-01T00:00:00+14:00","n":2,"s":1.5},{"t":""},7,{"t":"x","s":-1}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := record.Decode(text)
		if err != nil {
			if m != nil || !errors.Is(err, record.ErrMalformed) {
				t.Fatalf("Decode returns %v, %v", m, err)
			}
			return
		}
		again, err := record.Decode(record.Encode(m))
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v\nbecame %+v (%v)", m, again, err)
		}
		if text, err := m.Text(); err != nil || text == "" {
			t.Fatalf("a record that was read has text %q, %v", text, err)
		}
	})
}
