package adk

import "reflect"

// IsNil reports whether an interface is nil or holds a nil value, for example a nil *Runner in a
// session.Service. Method calls on such a value are likely to panic.
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
