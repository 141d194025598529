// Package canonical gives every value that a tool may return one form and one encoding, so that a
// result looks the same before it is stored and after any backend has stored it and loaded it again.
package canonical

import (
	"strings"
	"unicode/utf8"
)

// MaxDepth is the number of nested objects and arrays beyond which a value is replaced by a text.
// encoding/json itself gives up at 10,000; no tool's result needs more than a few.
const MaxDepth = 64

// MaxValues is the number of values beyond which a value is replaced by a text. The largest results that
// any backend stores, of 1 GB, have fewer, unless they consist of digits. But an object that holds
// another one twice, which again holds one twice, has 2^64 values at [MaxDepth].
const MaxValues = 1 << 24

// Value returns v as JSON would bring it back: nil, bool, float64, string, []any and map[string]any,
// with valid UTF-8. What JSON cannot hold is replaced by a text in brackets that names it: cycles,
// NaN, infinities, functions, channels, and everything below [MaxDepth] and beyond [MaxValues]. It never
// panics, shares no map or slice with v, and leaves v alone.
func Value(v any) any {
	w := walker{left: MaxValues}
	return w.value(v)
}

// walker copies a value.
type walker struct {
	path Path
	left int
}

func (w *walker) value(v any) any {
	if w.left--; w.left < 0 {
		return tooMany
	}
	v = Level(v)
	switch v := v.(type) {
	case string:
		return Text(v)
	case map[string]any:
		if problem := w.path.EnterObject(v); problem != "" {
			return problem
		}
		defer w.path.Leave()
		out := make(map[string]any, len(v))
		for _, key := range sortedKeys(v) {
			out[Text(key)] = w.value(v[key])
		}
		return out
	case []any:
		if problem := w.path.EnterList(v); problem != "" {
			return problem
		}
		defer w.path.Leave()
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = w.value(element)
		}
		return out
	}
	return v
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
