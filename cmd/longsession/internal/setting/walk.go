package setting

import "errors"

// Walk calls visit for err and for all errors that it wraps, in order. It does not go into an error for
// which visit returns false. A config may be wrong in several fields, and [errors.As] finds only the
// first of them.
func Walk(err error, visit func(error) bool) {
	if err == nil || !visit(err) {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			Walk(one, visit)
		}
		return
	}
	Walk(errors.Unwrap(err), visit)
}
