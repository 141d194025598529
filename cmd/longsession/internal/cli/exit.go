package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// What the command's exit codes mean; the root's help and docs/command.md say the same.
const (
	exitOK          = 0
	exitFindings    = 1
	exitUsage       = 2
	exitFailed      = 3
	exitInterrupted = 130
)

// exitError is an error that says how the command ends. Any other error of a command ends it with
// exitFailed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// findings is the error of a command that did its work and found n things that are wrong.
func findings(n int) error {
	if n == 1 {
		return &exitError{exitFindings, errors.New("1 finding")}
	}
	return &exitError{exitFindings, fmt.Errorf("%d findings", n)}
}

// badInput is the error of a command that cannot work with what it was given: a flag's value, a file.
// It should name the thing, its value and the remedy. Arguments are those of [fmt.Errorf].
func badInput(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failed is the error of a command that did some of its work. Arguments are those of [fmt.Errorf].
func failed(format string, args ...any) error {
	return &exitError{exitFailed, fmt.Errorf(format, args...)}
}

// exitCode returns what an error means for the process. An end of ctx counts only where err comes of it:
// work that was done when the signal came was not interrupted.
func exitCode(ctx context.Context, err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	default:
		return exitFailed
	}
}

// errorLine is an error on one line, safe for a terminal: names of files and what strangers wrote may stand in
// it. Errors that were joined are told one behind the other, each once.
func errorLine(err error) string {
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
		if text := printable(err.Error()); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	add(err)
	return strings.Join(texts, "; ")
}
