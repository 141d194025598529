// Package input reads messages: with an editor in a terminal, line by line from all else.
package input

import (
	"context"
	"errors"
)

// ErrInterrupted is the error of [Reader.Read] when the person pressed Ctrl-C on an empty message.
var ErrInterrupted = errors.New("interrupted")

// Reader reads one message after the other. It is not safe for concurrent use.
type Reader interface {
	// Read shows prompt and returns the next message as it was typed or pasted, tabs and newlines included. The error
	// is [io.EOF] at the end of the input (Ctrl-D on an empty message), ErrInterrupted, or the context's.
	Read(ctx context.Context, prompt string) (string, error)
	// Close restores the terminal and stores the history of messages.
	Close() error
}
