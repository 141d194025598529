package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// document returns the JSON value that begins with a line: the line itself or, if the value
// continues after it, all of its lines. The attempt ends at the end of the file, and at a line that
// is a complete object, so that one broken line does not swallow the conversations after it. For
// example,
//
//	{"id": "a",
//	{"id": "b", "messages": []}
//
// gives an error for the first line, and the second is read by itself. Errors come from the
// underlying reader.
func (r *Reader) document(first []byte) ([]byte, error) {
	if !unfinished(first) {
		return first, nil
	}
	list := bytes.Equal(bytes.TrimSpace(first), []byte("["))
	text, starts := bytes.Clone(first), []int{0}
	open := depth{}
	open.add(first)
	for open.level > 0 {
		if len(text) > r.MaxLine {
			return nil, errorAt(0, "the value that begins here is longer than %d bytes; expected one conversation or event on a line", r.MaxLine)
		}
		next, err := r.lines.next(r.MaxLine)
		var broken *Error
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &broken):
			r.starts = starts
			return text, nil // the parser reports that it is cut off
		case err != nil:
			return nil, err
		}
		if !list && len(next) > 0 && next[0] == '{' && json.Valid(next) {
			r.held = bytes.Clone(next)
			return bytes.Clone(first), nil
		}
		text = append(text, '\n')
		starts = append(starts, len(text))
		text = append(text, next...)
		open.add(next)
	}
	r.starts = starts
	return text, nil
}

// unfinished reports whether a line is the beginning of a value that continues on the next line.
func unfinished(line []byte) bool {
	if end := bytes.TrimRight(line, " \t\r"); len(end) == 0 || bytes.IndexByte([]byte("}]"), end[len(end)-1]) >= 0 || json.Valid(line) {
		return false
	}
	var into json.RawMessage
	var syntax *json.SyntaxError
	return errors.As(json.Unmarshal(line, &into), &syntax) && strings.Contains(syntax.Error(), "unexpected end")
}

// depth counts open brackets, line by line. A JSON string cannot continue on the next line.
type depth struct{ level int }

func (d *depth) add(line []byte) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			d.level++
		case c == '}' || c == ']':
			d.level--
		}
	}
}

// located converts the column of err, if the current value takes several lines, into a line and its
// column.
func (r *Reader) located(err error) error {
	var e *Error
	if r.starts == nil || !errors.As(err, &e) || e.Line != 0 || e.Column == 0 {
		return err
	}
	at, found := slices.BinarySearch(r.starts, e.Column-1)
	if !found {
		at--
	}
	e.Line, e.Column = r.current.number+at, e.Column-r.starts[at]
	return err
}
