package agentsmd

import (
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/adk-go-ext/longsession/layer/prompt"
)

// FileError is what is wrong with one file that a [Loader] has found.
type FileError struct {
	Path   string
	Reason string // what is wrong with it, and what to do
	Err    error  // of the operating system, or nil
}

// Error names the file, what is wrong with it, and what to do.
func (e *FileError) Error() string {
	text := printable(e.Path) + " " + e.Reason
	if e.Err != nil && !errors.Is(e.Err, prompt.ErrUntrusted) {
		text += " (" + e.Err.Error() + ")"
	}
	return text
}

// Unwrap returns the error of the operating system.
func (e *FileError) Unwrap() error { return e.Err }

// printable returns a path as it is, or quoted if it has characters that would hide or break something in a
// line of a log.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(path)
	}
	return path
}
