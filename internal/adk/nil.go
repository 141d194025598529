package adk

import "reflect"

// IsNil reports whether an interface is nil or holds a nil value, of which every method call is
// likely to panic: a nil *Runner in a session.Service, for example.
func IsNil(value any) bool {
	if value == nil {
		return true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Chan, reflect.Slice:
		return v.IsNil()
	default:
		return false
	}
}
