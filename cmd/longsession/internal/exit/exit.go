// Package exit defines how the command ends: its exit codes, the errors that carry them, and the
// line that reports an error.
package exit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// The exit codes. The help of the root command and docs/command.md list them too.
const (
	CodeOK          = 0
	CodeFindings    = 1
	CodeUsage       = 2
	CodeFailed      = 3
	CodeInterrupted = 130
)

// OwnInterrupts is the annotation of a command that listens to Ctrl-C itself. All others run in a context that Ctrl-C
// ends.
const OwnInterrupts = "own-interrupts"

// Error is an error with an exit code. Any other error of a command ends it with CodeFailed.
type Error struct {
	Code int
	Err  error
}

// Error returns the text of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Findings is the error of a command that did its work and found n problems.
func Findings(n int) error { return &Error{CodeFindings, errors.New(terminal.Plural(n, "finding"))} }

// Usage is the error of a command that cannot work with its input: the value of a flag, or a file.
// The text should name the input, its value and the remedy. The arguments are those of
// [fmt.Errorf].
func Usage(format string, args ...any) error { return &Error{CodeUsage, fmt.Errorf(format, args...)} }

// Failed is the error of a command that did only part of its work. The arguments are those of
// [fmt.Errorf].
func Failed(format string, args ...any) error { return &Error{CodeFailed, fmt.Errorf(format, args...)} }

// Interrupted is the error of a command that a signal ended. done says how far the command came.
func Interrupted(done string) error {
	return &Error{CodeInterrupted, errors.New("interrupted: " + done)}
}

// CodeOf returns the exit code for an error. The end of ctx counts only if it caused err: work that
// was complete when the signal came was not interrupted.
func CodeOf(ctx context.Context, err error) int {
	var e *Error
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &e):
		return e.Code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return CodeInterrupted
	default:
		return CodeFailed
	}
}

// speaker is the package that speaks, in front of an error or behind the flag that the error is about.
var speaker = regexp.MustCompile(`^(--[a-z-]+: )?(?:longsession: |persistence: )+`)

// withoutSpeaker leaves out which package speaks: the command has a name of its own, and says it in front of each error.
func withoutSpeaker(text string) string { return speaker.ReplaceAllString(text, "$1") }

// Line writes an error on one line that is safe to show: the names of files and recorded text may
// be part of it. Joined errors follow one another, separated by "; ", without repetitions.
func Line(err error) string {
	var texts []string
	var add func(error)
	add = func(err error) {
		if inner := errors.Unwrap(err); inner != nil && inner.Error() == err.Error() {
			add(inner)
			return
		}
		if all, is := err.(interface{ Unwrap() []error }); is && err.Error() == errors.Join(all.Unwrap()...).Error() {
			for _, one := range all.Unwrap() {
				add(one)
			}
			return
		}
		if text := terminal.Printable(withoutSpeaker(err.Error())); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(err)
	return strings.Join(texts, "; ")
}
