package eventrow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// exactly has the values that genai's own JSON loses, by their path of Go field names and indexes:
// empty maps and slices become nil, durations are cut to seconds, and a date without a year cannot
// be decoded. For example, a call with empty, non-nil arguments needs
//
//	{"/LLMResponse/Content/Parts/0/FunctionCall/Args": {}}
type exactly map[string]json.RawMessage

// plain maps types whose own JSON loses data to types with the same fields and plain JSON.
var plain = map[reflect.Type]reflect.Type{
	reflect.TypeFor[time.Duration](): reflect.TypeFor[int64](),
	reflect.TypeOf(genai.Citation{}.PublicationDate): reflect.TypeFor[struct {
		Year  int
		Month time.Month
		Day   int
	}](),
}

// spot is a field of a struct that may lose data in JSON, or that contains such fields.
type spot struct {
	index int
	name  string
	kind  spotKind
}

type spotKind int

const (
	spotEmpty  spotKind = iota // a map or slice that omitempty leaves out
	spotPlain                  // a value of a type in plain
	spotBelow                  // a struct, or a pointer to one
	spotInside                 // a slice of structs or of pointers to structs
)

// spotsOf is complete when the package is initialized, and only read afterwards.
var spotsOf = func() map[reflect.Type][]spot {
	known := map[reflect.Type][]spot{}
	findSpots(reflect.TypeFor[session.Event](), known)
	return known
}()

// findSpots finds the spots of a struct and of all structs below it. A struct without spots is not
// visited again for each event, so events without such fields cost nothing.
func findSpots(t reflect.Type, known map[reflect.Type][]spot) []spot {
	if found, ok := known[t]; ok {
		return found
	}
	known[t] = nil // a type that contains itself, such as a JSON schema, is not searched once more below itself
	var found []spot
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		if _, ok := plain[f.Type]; ok {
			found = append(found, spot{i, f.Name, spotPlain})
			continue
		}
		list := f.Type.Kind() == reflect.Slice
		if (list || f.Type.Kind() == reflect.Map) && strings.Contains(f.Tag.Get("json"), ",omitempty") {
			found = append(found, spot{i, f.Name, spotEmpty})
		}
		of := f.Type
		if list {
			of = of.Elem()
		}
		if of = structBehind(of); of == nil || len(findSpots(of, known)) == 0 {
			continue
		}
		if list {
			found = append(found, spot{i, f.Name, spotInside})
		} else {
			found = append(found, spot{i, f.Name, spotBelow})
		}
	}
	known[t] = found
	return found
}

// structBehind returns the struct type that t is or points to, nil for other types and for times.
func structBehind(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() {
		return t
	}
	return nil
}

// collect adds the values that the JSON of v would lose. v is a struct, or a pointer to one.
// unreadable reports whether v has a value whose own JSON could not be decoded.
func (e *exactly) collect(v reflect.Value, path string) (unreadable bool, err error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return false, nil
		}
		v = v.Elem()
	}
	for _, s := range spotsOf[v.Type()] {
		f := v.Field(s.index)
		switch s.kind {
		case spotEmpty:
			if !f.IsNil() && f.Len() == 0 {
				err = e.add(path+"/"+s.name, f)
			}
		case spotPlain:
			if !f.IsZero() {
				unreadable = true
				err = e.add(path+"/"+s.name, f.Convert(plain[f.Type()]))
			}
		case spotBelow:
			var below bool
			below, err = e.collect(f, path+"/"+s.name)
			unreadable = unreadable || below
		case spotInside:
			for i := range f.Len() {
				below, err := e.collect(f.Index(i), path+"/"+s.name+"/"+strconv.Itoa(i))
				if err != nil {
					return false, err
				}
				unreadable = unreadable || below
			}
		}
		if err != nil {
			return false, err
		}
	}
	return unreadable, nil
}

// add keeps one value under its path.
func (e *exactly) add(path string, v reflect.Value) error {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	if *e == nil {
		*e = exactly{}
	}
	(*e)[path] = text
	return nil
}

// without returns a copy of a struct, or of a pointer to one, in which every value of a type in
// plain is zero. It does not change the original, and shares all unchanged parts with it.
func without(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(without(v.Elem()))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(without(v.Index(i)))
		}
		return out
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for _, s := range spotsOf[v.Type()] {
		switch f := out.Field(s.index); s.kind {
		case spotPlain:
			f.SetZero()
		case spotBelow, spotInside:
			f.Set(without(f))
		}
	}
	return out
}

// restore sets the lost values in target, a pointer to a struct of the type that they were
// collected from. It skips those of fields that only another version of ADK or of genai has, as the JSON of
// such fields is skipped.
func (e exactly) restore(target any) error {
	for path, text := range e {
		v, known := find(reflect.ValueOf(target), path)
		if !known {
			continue
		}
		if !v.IsValid() || !v.CanSet() {
			return fmt.Errorf("the event has no field %s", path)
		}
		if _, ok := plain[v.Type()]; !ok {
			if err := json.Unmarshal(text, v.Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		kept := reflect.New(plain[v.Type()])
		if err := json.Unmarshal(text, kept.Interface()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		v.Set(kept.Elem().Convert(v.Type()))
	}
	return nil
}

// find returns what a path leads to, or the zero Value if there is nothing. It is not known if a struct on the way has no
// field of that name.
func find(v reflect.Value, path string) (found reflect.Value, known bool) {
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if t := structBehind(v.Type()); t != nil {
			if _, known := t.FieldByName(step); !known {
				return reflect.Value{}, false
			}
		}
		if v = below(v, step); !v.IsValid() {
			return reflect.Value{}, true
		}
	}
	return v, true
}

// below returns a field or an element of v, or the zero Value if there is none.
func below(v reflect.Value, step string) reflect.Value {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		return v.FieldByName(step)
	case reflect.Slice:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < v.Len() {
			return v.Index(i)
		}
	}
	return reflect.Value{}
}
