package persistence_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"
	"pgregory.net/rapid"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/persistence"
)

// The test sets every field of an event, so it fails when ADK or genai adds a field that is not
// stored.
func TestEveryFieldOfAnEventComesBack(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t))
	sess := create(t, s, "s")
	want := newFilled("filled", &full{})
	if zero := zeroFields(reflect.ValueOf(want), "Event"); len(zero) != 1 || zero[0] != "Event.LLMResponse.Partial" {
		t.Fatalf("these fields are not set: %v", zero)
	}
	appendTo(t, s, sess, want)
	if diff := cmp.Diff(want, get(t, s, "s").Events().At(0), cmpopts.IgnoreUnexported(jsonschema.Schema{})); diff != "" {
		t.Errorf("the event changed (-appended +read):\n%s", diff)
	}
}

// zeroFields returns the names of all zero fields below v.
func zeroFields(v reflect.Value, path string) (zero []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []string{path}
		}
		return zeroFields(v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{path}
		}
		return zeroFields(v.Index(0), path+"[0]")
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[time.Time]() && v.Type() != reflect.TypeFor[jsonschema.Schema]() {
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					zero = append(zero, zeroFields(v.Field(i), path+"."+f.Name)...)
				}
			}
			return zero
		}
	}
	if v.IsZero() && v.Kind() != reflect.Uint8 {
		return []string{path}
	}
	return nil
}

// drawn is a source whose values rapid chooses and shrinks.
type drawn struct{ t *rapid.T }

func (d drawn) below(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "choice") }
func (d drawn) text() string {
	return rapid.SampledFrom([]string{"", "a", "'; DROP TABLE events; --", "\x00", "\n\t\"\\", "é🎈\u2028", "temporary", "</script>&"}).Draw(d.t, "text")
}
func (d drawn) number() float64 {
	return rapid.SampledFrom([]float64{0, 1, -0.5, 1e21, math.SmallestNonzeroFloat32, math.MaxFloat32, 1 << 53}).Draw(d.t, "number")
}

// The comparison distinguishes nil from empty.
func TestGeneratedEventsComeBackBitForBit(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	sess := create(t, s, "s")
	compared := 0
	testkit.Check(t, func(t *rapid.T) {
		compared++
		want := newFilled(fmt.Sprintf("event-%d", compared), drawn{t})
		if err := s.AppendEvent(context.Background(), sess, want); err != nil {
			t.Fatal(err)
		}
		resp, err := s.Get(context.Background(), &session.GetRequest{AppName: app, UserID: user, SessionID: "s", NumRecentEvents: 1})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, resp.Session.Events().At(0)); diff != "" {
			t.Fatalf("the event changed (-appended +read):\n%s", diff)
		}
		if location := resp.Session.Events().At(0).Timestamp.Location(); location != time.UTC {
			t.Fatalf("the time is in %v", location)
		}
	})
	if want := 20; compared < want { // -short draws a fifth of the 100 events
		t.Errorf("only %d events compared, want %d", compared, want)
	}
}

// The caller's event stays unchanged, even if the stored form needs a modified copy.
func TestAppendingLeavesTheCallersEventAlone(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	sess := create(t, s, "s")
	for i, key := range []string{"temp:k", "k"} {
		given, same := newFilled("", &full{}), newFilled("", &full{})
		given.Actions.StateDelta[key], same.Actions.StateDelta[key] = "v", "v"
		appendTo(t, s, sess, given)
		if diff := cmp.Diff(same, given); diff != "" {
			t.Errorf("the caller's event changed:\n%s", diff)
		}
		if kept := sess.Events().At(i); kept.ID == "" || kept.ID != get(t, s, "s").Events().At(i).ID {
			t.Errorf("the handle's event has ID %q", kept.ID)
		}
	}
}

// The error names the part that JSON cannot express.
func TestWhatJSONCannotWriteIsRefusedAndNothingStored(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	sess := create(t, s, "s")
	for name, ev := range map[string]*session.Event{
		"custom metadata": {LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"f": func() {}}}},
		"actions":         {Actions: session.EventActions{StateDelta: map[string]any{"nan": math.NaN()}}},
		"content":         {LLMResponse: model.LLMResponse{Content: &genai.Content{Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{Args: map[string]any{"c": make(chan int)}}}}}}},
		"extra":           {LLMResponse: model.LLMResponse{AvgLogprobs: math.Inf(1)}},
	} {
		err := s.AppendEvent(context.Background(), sess, ev)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if sess.Events().Len() != 0 || get(t, s, "s").Events().Len() != 0 {
		t.Error("something was stored")
	}
}

// JSON cannot represent bytes that are not UTF-8, so they become U+FFFD.
func TestInvalidUTF8BecomesReadable(t *testing.T) {
	t.Parallel()
	s := open(t, ":memory:")
	sess := create(t, s, "s")
	appendTo(t, s, sess, text("id\xff", "a\xffb"))
	got := get(t, s, "s").Events().At(0)
	if got.Content.Parts[0].Text != "a\ufffdb" || got.ID != "id\xff" {
		t.Errorf("text %q, ID %q", got.Content.Parts[0].Text, got.ID)
	}
}

// The events have 16 MB of text, a thousand parallel calls, and values nested a thousand levels
// deep.
func TestHugeEventsComeBack(t *testing.T) {
	t.Parallel()
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	sess := create(t, s, "s")
	long, calls, deep := text("long", strings.Repeat("0123456789abcdef", 1<<20)), text("calls", ""), text("deep", "")
	for range 1000 {
		calls.Content.Parts = append(calls.Content.Parts, &genai.Part{FunctionCall: &genai.FunctionCall{Name: "f", Args: map[string]any{}}})
	}
	var value any = "bottom"
	for range 1000 {
		value = []any{value}
	}
	deep.CustomMetadata = map[string]any{"value": value}
	appendTo(t, s, sess, long, calls, deep)
	got := get(t, s, "s").Events()
	for i, want := range []*session.Event{long, calls, deep} {
		want.Timestamp = want.Timestamp.UTC().Round(0)
		if !reflect.DeepEqual(want, got.At(i)) {
			t.Errorf("event %q changed", want.ID)
		}
	}
}
