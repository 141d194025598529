// Package configerr has the error of a refused value that the configurations of all packages share.
package configerr

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Error is one refused value of a configuration. Each package calls it ConfigError, so that [errors.As] with the
// name of any package finds those of all.
type Error struct {
	Field  string // as the configuration names it, such as "Turn.USD"
	Value  any    // as it was given; for a number that was left at 0 it may be the default
	Reason string // what is wrong with it, and what to do, naming other fields as the configuration does
}

// Error names the field, its value and what is wrong.
func (e *Error) Error() string { return fmt.Sprintf("%s is %s: %s", e.Field, text(e.Value), e.Reason) }

// maxText is how many bytes of a value a message has: a prompt template would hide the reason.
const maxText = 200

// text is short, and never the inside of what an app has built, which may be secret.
func text(value any) string {
	if adk.IsNil(value) {
		return "nil"
	}
	_, speaks := value.(fmt.Stringer)
	switch kind := reflect.TypeOf(value).Kind(); kind {
	case reflect.String:
		return strconv.Quote(cut(fmt.Sprint(value)))
	case reflect.Func, reflect.Pointer, reflect.Chan, reflect.Map, reflect.Struct:
		if !speaks {
			return "set"
		}
	}
	return cut(fmt.Sprint(value))
}

// cut keeps whole runes.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Problems collects what is wrong with a configuration.
type Problems []error

// Refuse adds a refused value. The reason is a format.
func (p *Problems) Refuse(field string, value any, reason string, args ...any) {
	*p = append(*p, &Error{field, value, fmt.Sprintf(reason, args...)})
}

// RefuseNilIn adds a value that holds a nil pointer. A value that was left nil is not refused.
func (p *Problems) RefuseNilIn(field string, value any) {
	if value != nil && adk.IsNil(value) {
		p.Refuse(field, nil, "it holds a nil %T, and every call would panic; leave the field out", value)
	}
}

// Within adds what is wrong with a part of the configuration, under the part's name.
func (p *Problems) Within(part string, err error) {
	for _, e := range All(err) {
		*p = append(*p, &Error{part + "." + e.Field, e.Value, e.Reason})
	}
}

// Join returns one error of all problems, which begins with what the configuration is of, and nil if there is none.
func (p Problems) Join(what string) error {
	if len(p) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, errors.Join(p...))
}

// All returns the refused values that err is made of, in order.
func All(err error) []*Error {
	if e, is := err.(*Error); is {
		return []*Error{e}
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() []error }:
		var found []*Error
		for _, one := range wrapper.Unwrap() {
			found = append(found, All(one)...)
		}
		return found
	case interface{ Unwrap() error }:
		return All(wrapper.Unwrap())
	}
	return nil
}
