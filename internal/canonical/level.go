package canonical

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/adk-go-ext/longsession/internal/survive"
)

// tooMany replaces values beyond [MaxValues].
var tooMany = fmt.Sprintf("[more than %d values]", MaxValues)

// Level returns v as one of nil, bool, float64, string, []any and map[string]any, or a text in brackets if
// JSON cannot hold it. Unlike [Value], it leaves the elements of maps and slices and the bytes of strings as
// they are, and copies none of them. It never panics.
func Level(v any) any {
	switch v := v.(type) {
	case nil, bool, string:
		return v
	case float64:
		return number(v)
	case float32:
		return encoded(v)
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case int32:
		return float64(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return number(f)
	case map[string]any:
		if v == nil {
			return nil
		}
		return v
	case []any:
		if v == nil {
			return nil
		}
		return v
	case []string:
		return list(v)
	case []map[string]any:
		return list(v)
	case map[string]string:
		if v == nil {
			return nil
		}
		out := make(map[string]any, len(v))
		for key, element := range v {
			out[key] = element
		}
		return out
	}
	return encoded(v)
}

func list[T any](v []T) any {
	if v == nil {
		return nil
	}
	out := make([]any, len(v))
	for i, element := range v {
		out[i] = element
	}
	return out
}

// encoded returns a value of any other type as its own JSON brings it back.
func encoded(v any) (out any) {
	defer survive.Else("canonical: a value as JSON", func() { out = fmt.Sprintf("[%T cannot be shown]", v) })
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("[%T cannot be shown]", v)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return fmt.Sprintf("[%T cannot be shown]", v)
	}
	return decoded
}

func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprintf("[%v]", f)
	}
	return f
}

// Path is the maps and slices between the root of a value and the present one. Its zero value is at the
// root.
type Path struct {
	at    [MaxDepth]visit
	depth int
}

// visit identifies a map or slice. Slices of one array that differ in length are different.
type visit struct {
	object uintptr
	list   *any // the first element
	length int
}

// EnterObject goes into a map that [Level] returned. If it contains itself, or is too deep, EnterObject
// returns the text that replaces it, and does not go into it.
func (p *Path) EnterObject(v map[string]any) (problem string) {
	return p.enter(visit{object: reflect.ValueOf(v).Pointer()})
}

// EnterList is EnterObject for a slice.
func (p *Path) EnterList(v []any) (problem string) {
	if len(v) == 0 {
		return p.enter(visit{})
	}
	return p.enter(visit{list: &v[0], length: len(v)})
}

func (p *Path) enter(at visit) (problem string) {
	if p.depth == MaxDepth {
		return tooDeep
	}
	if at != (visit{}) {
		for i := range p.depth {
			if p.at[i] == at {
				return "[contains itself]"
			}
		}
	}
	p.at[p.depth] = at
	p.depth++
	return ""
}

// Leave goes back to where the last of them came from.
func (p *Path) Leave() { p.depth-- }

// tooDeep replaces maps and slices below [MaxDepth].
var tooDeep = fmt.Sprintf("[nested more than %d levels deep]", MaxDepth)
