package conversation

import (
	"errors"
	"fmt"
	"strings"
)

// Error is a problem in a recording, with its place and with what was expected there. Functions
// return it as a pointer.
type Error struct {
	// File is the name given to [NewReader], "" for events that were not read from a file.
	File string
	// Line and Column count from 1, and columns count bytes. They are 0 if the problem has no
	// single line, or no place in the line.
	Line, Column int
	// Conversation is the ID, "" if it is not known.
	Conversation string
	// Message is the index of the message or event, from 0. It is -1 if the problem is in none of
	// them.
	Message int
	// Problem is what was found, and what was expected instead.
	Problem string
}

// Error returns "file:line:column: conversation X, message N: problem", and leaves out parts that
// are not known.
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

// errorAt returns an error at a column. The caller fills in the rest.
func errorAt(column int, format string, args ...any) *Error {
	return &Error{Column: column, Message: -1, Problem: fmt.Sprintf(format, args...)}
}

// inMessage adds the place of the message to err, as far as err has none.
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

// inConversation adds the file, the line and the conversation to err, as far as err has none.
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
