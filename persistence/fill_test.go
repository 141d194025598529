package persistence_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"google.golang.org/adk/session"
)

// source chooses the generated values.
type source interface {
	// below returns a number from 0 to n-1.
	below(n int) int
	text() string
	number() float64
}

// full is a source that leaves no field empty.
type full struct{ n int }

func (f *full) below(n int) int { return n - 1 }
func (f *full) text() string    { f.n++; return fmt.Sprintf("text %d\x00\u2028<é🎈>", f.n) }
func (f *full) number() float64 { f.n++; return float64(f.n) + 0.1 }

// fill sets a value and everything below it to values from the source. It uses reflection, so that
// fields added by later versions of ADK or genai are covered too.
func fill(v reflect.Value, from source, depth int) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		at := []time.Time{{}, time.Unix(0, 1), time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("east", 3600)),
			time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 5, time.UTC), time.Unix(1<<40, 987654321)}
		v.Set(reflect.ValueOf(at[from.below(len(at))]))
		return
	case reflect.TypeFor[time.Duration]():
		v.SetInt([]int64{0, 1, -1, 1_500_000_000, -1 << 63, 1<<63 - 1}[from.below(6)])
		return
	case reflect.TypeFor[jsonschema.Schema](): // it has no end, and its own JSON
		v.Set(reflect.ValueOf(jsonschema.Schema{Type: "string", Description: "a code", Default: json.RawMessage(`"x"`)}))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(from.below(2) == 1)
	case reflect.String:
		v.SetString(from.text())
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 1<<31 - 1, 12345}[from.below(5)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat(from.number())
	case reflect.Pointer:
		if from.below(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), from, depth+1)
		}
	case reflect.Interface:
		if depth > 8 {
			v.Set(reflect.ValueOf(from.text()))
			return
		}
		kinds := []reflect.Type{nil, reflect.TypeFor[bool](), reflect.TypeFor[float64](), reflect.TypeFor[[]any](), reflect.TypeFor[string](), reflect.TypeFor[map[string]any]()}
		if kind := kinds[from.below(len(kinds))]; kind != nil {
			held := reflect.New(kind).Elem()
			fill(held, from, depth+1)
			if (kind.Kind() == reflect.Slice || kind.Kind() == reflect.Map) && held.IsNil() {
				return // JSON has only one null
			}
			v.Set(held)
		}
	case reflect.Slice:
		if n := from.below(4); n > 0 { // 0 leaves nil
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fill(v.Index(i), from, depth+1)
			}
		}
	case reflect.Uint8:
		v.SetUint(uint64(from.below(256)))
	case reflect.Map:
		if n := from.below(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(key, from, depth+1)
				fill(value, from, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(v.Field(i), from, depth+1)
			}
		}
	default:
		panic(fmt.Sprintf("no rule for %s: add one for this kind of field", v.Type()))
	}
}

// newFilled returns an event that can be stored: it is not partial and has no temporary state.
func newFilled(id string, from source) *session.Event {
	ev := &session.Event{}
	fill(reflect.ValueOf(ev).Elem(), from, 0)
	ev.ID, ev.Partial = id, false
	return ev
}
