package transfer

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// field is a way from an event to a value that has no fields of its own.
type field struct {
	name string
	way  []int // indexes of struct fields; behind a pointer or a slice, that of its element
}

// fieldsOf returns all fields of a type that hold something, also those that a later version of ADK or of genai adds.
func fieldsOf(t reflect.Type, at field) (all []field) {
	switch {
	case t == reflect.TypeFor[time.Time](), isSchema(t), t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return []field{at}
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return fieldsOf(t.Elem(), field{at.name, append(slices.Clip(at.way), 0)})
	case t.Kind() != reflect.Struct:
		return []field{at}
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			all = append(all, fieldsOf(f.Type, field{at.name + "." + f.Name, append(slices.Clip(at.way), i)})...)
		}
	}
	return all
}

// isSchema reports whether a type is a JSON schema, which has no end and its own JSON.
func isSchema(t reflect.Type) bool {
	return strings.HasSuffix(t.PkgPath(), "/jsonschema") && t.Name() == "Schema"
}

// set sets the field of an event, and nothing else in it.
func (f field) set(ev *session.Event) {
	v := reflect.ValueOf(ev).Elem()
	for _, i := range f.way {
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			v = v.Index(0)
		default:
			v = v.Field(i)
		}
	}
	v.Set(valueFor(v.Type()))
}

func valueFor(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(1_000, 5_000).UTC())
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(1500 * time.Millisecond)
	}
	v := reflect.New(t).Elem()
	if isSchema(t) {
		v.FieldByName("Type").SetString("string")
		return v
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.SetBytes([]byte{0, 255})
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"answer": "42"}))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(reflect.ValueOf("key"), valueForElement(t.Elem()))
	default:
		panic(fmt.Sprintf("no value for %s: add one for this kind of field", t))
	}
	return v
}

// valueForElement is a value in a map: a struct without anything is one as well.
func valueForElement(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Struct {
		return reflect.Zero(t)
	}
	return valueFor(t)
}

// Whatever a field of an event holds, a copy in ADK's tables has it, or says that it has not. The copy back into a file
// has what the tables have.
func TestEveryFieldOfAnEventIsCopiedOrCounted(t *testing.T) {
	t.Parallel()
	fields := fieldsOf(reflect.TypeFor[session.Event](), field{})
	if len(fields) < 160 {
		t.Fatalf("only %d fields found", len(fields))
	}
	further := map[string]bool{}
	for _, f := range fields {
		if strings.Contains(f.name, "PublicationDate.") && !strings.HasSuffix(f.name, ".Year") {
			continue // genai can read no date without a year, so no answer of a model has one
		}
		ev := &session.Event{ID: "e", InvocationID: "i", Author: "a", Timestamp: time.Unix(1, 0).UTC()}
		f.set(ev)
		for _, c := range adk.FurtherFields {
			further[c.Name] = further[c.Name] || !c.Of(ev).IsZero()
		}
		lost := Losses{}
		(&database{}).losses(ev, lost)
		r, err := rowOf(ev)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		back, err := r.event()
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if same := reflect.DeepEqual(back, ev); same != (len(lost) == 0) || r.unknown {
			t.Errorf("%s: copied as it is: %t; counted as lost: %v; as unknown: %t", f.name, same, lost, r.unknown)
		}
	}
	for name, set := range further {
		if !set {
			t.Errorf("the field %s was never set", name)
		}
	}
}
