package sessions

import "reflect"

// IsNil reports whether a value is nil, or an interface that holds a nil pointer.
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
