package adk

import (
	"reflect"
	"time"
)

// maxDepth is deeper than any JSON value that a model or a tool has been seen to produce. DeepCopy
// leaves values below it zero, so that a cyclic value cannot exhaust the stack.
const maxDepth = 100

var timeType = reflect.TypeFor[time.Time]()

// DeepCopy returns a copy of v that shares no pointer, map, slice, array, interface or exported
// struct field with it. It copies unexported fields by value, and shares functions and channels.
func DeepCopy[T any](v T) T {
	var out T
	reflect.ValueOf(&out).Elem().Set(clone(reflect.ValueOf(&v).Elem(), 0))
	return out
}

func clone(v reflect.Value, depth int) reflect.Value {
	if depth > maxDepth {
		return reflect.Zero(v.Type())
	}
	depth++
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(clone(v.Elem(), depth))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(clone(v.Elem(), depth))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			reflect.Copy(out, v)
			return out
		}
		for i := range v.Len() {
			out.Index(i).Set(clone(v.Index(i), depth))
		}
		return out
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(clone(v.Index(i), depth))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for iter := v.MapRange(); iter.Next(); {
			out.SetMapIndex(iter.Key(), clone(iter.Value(), depth))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		if v.Type() == timeType {
			return out
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(clone(v.Field(i), depth))
			}
		}
		return out
	default:
		return v
	}
}
