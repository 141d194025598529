// Package canonical gives every value that a tool may return one form and one encoding, so that a
// result looks the same before it is stored and after any backend has stored it and loaded it again.
package canonical

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the number of nested objects and arrays beyond which a value is replaced by a text.
// encoding/json itself gives up at 10,000; no tool's result needs more than a few.
const MaxDepth = 64

// Value returns v as JSON would bring it back: nil, bool, float64, string, []any and map[string]any,
// with valid UTF-8. What JSON cannot hold is replaced by a text in brackets that names it: cycles,
// NaN, infinities, functions, channels, and everything below [MaxDepth]. It never panics, shares
// no map or slice with v, and leaves v alone.
func Value(v any) any {
	w := walker{}
	return w.value(v, 0)
}

// JSON returns the canonical encoding of v: that of [Value](v), with sorted keys, without spaces, and
// with <, > and & as they are.
func JSON(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(Value(v)); err != nil {
		// Value returns nothing that JSON cannot hold.
		panic(fmt.Sprintf("canonical: encode: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Text returns s with each byte that is no UTF-8 replaced by U+FFFD, as encoding/json replaces it.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s { // range yields U+FFFD for each such byte
		out.WriteRune(r)
	}
	return out.String()
}

// walker holds the maps, slices and pointers between the root and the present value.
type walker struct{ path []visit }

// visit identifies a map, slice or pointer. Slices of one array that differ in length are different.
type visit struct {
	pointer uintptr
	length  int
	kind    reflect.Kind
}

func (w *walker) value(v any, depth int) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return Text(v)
	case float64:
		return number(v)
	case int:
		return float64(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return Text(v.String())
		}
		return number(f)
	case json.RawMessage:
		return w.encoded(v)
	case map[string]any:
		if v == nil {
			return nil
		}
		return w.within(v, depth, func() any {
			out := make(map[string]any, len(v))
			for key, element := range v {
				out[Text(key)] = w.value(element, depth+1)
			}
			return out
		})
	case []any:
		if v == nil {
			return nil
		}
		return w.within(v, depth, func() any {
			out := make([]any, len(v))
			for i, element := range v {
				out[i] = w.value(element, depth+1)
			}
			return out
		})
	}
	return w.within(v, depth, func() any { return w.encoded(v) })
}

// within computes the value of a container, unless it contains itself or lies too deep.
func (w *walker) within(v any, depth int, value func() any) any {
	if depth >= MaxDepth {
		return fmt.Sprintf("[nested more than %d levels deep]", MaxDepth)
	}
	at := visit{}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Map, reflect.Pointer:
		at = visit{r.Pointer(), 0, r.Kind()}
	case reflect.Slice:
		at = visit{r.Pointer(), r.Len(), r.Kind()}
	default:
		return value()
	}
	for _, above := range w.path {
		if above == at && at.pointer != 0 {
			return "[contains itself]"
		}
	}
	w.path = append(w.path, at)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	return value()
}

// encoded returns a value of any other type as its own JSON brings it back.
func (w *walker) encoded(v any) (out any) {
	defer func() {
		if recover() != nil {
			out = fmt.Sprintf("[%T cannot be shown]", v)
		}
	}()
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("[%T cannot be shown]", v)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return fmt.Sprintf("[%T cannot be shown]", v)
	}
	return w.value(decoded, len(w.path))
}

func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprintf("[%v]", f)
	}
	return f
}
