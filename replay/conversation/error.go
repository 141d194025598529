package conversation

import (
	"errors"
	"fmt"
	"strings"
)

// Error says what is wrong with a recording, where, and what was expected there. It is always used as a
// pointer.
type Error struct {
	// File is the name given to [NewReader]; "" for events that were not read from a file.
	File string
	// Line and Column count from 1, columns in bytes. 0 where no single line, or no place in it, is to blame.
	Line, Column int
	// Conversation is its ID, or "" if it is not known.
	Conversation string
	// Message is the index, from 0, of the message or event, or -1 if it is none of them.
	Message int
	// Problem is what was found and what was expected instead.
	Problem string
}

// Error returns "file:line:column: conversation X, message N: problem", without what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	for _, n := range []int{e.Line, e.Column} {
		if n > 0 {
			fmt.Fprintf(&b, ":%d", n)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Conversation != "" {
		fmt.Fprintf(&b, "conversation %s", e.Conversation)
	}
	if e.Message >= 0 {
		if e.Conversation != "" {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "message %d", e.Message)
	}
	if e.Conversation != "" || e.Message >= 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// errorAt returns an error at a column of a line; who called fills in the rest.
func errorAt(column int, format string, args ...any) *Error {
	return &Error{Column: column, Message: -1, Problem: fmt.Sprintf(format, args...)}
}

// inMessage says which message err is about, unless that is known.
func inMessage(err error, place place) error {
	var e *Error
	if errors.As(err, &e) {
		if e.Message < 0 {
			e.Message = place.index
		}
		if e.Line == 0 {
			e.Line = place.line
		}
		if e.Column == 0 {
			e.Column = place.column
		}
	}
	return err
}

// inConversation says which conversation err is about, as far as that is not known.
func inConversation(err error, file string, line int, id string) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = file
		if e.Line == 0 {
			e.Line = line
		}
		if e.Conversation == "" {
			e.Conversation = id
		}
	}
	return err
}
