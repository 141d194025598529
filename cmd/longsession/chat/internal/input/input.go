// Package input reads messages: with an editor in a terminal, line by line from all else.
package input

import (
	"context"
	"errors"
	"io"
)

// ErrInterrupted is the error of [Reader.Read] when the person pressed Ctrl-C on an empty message.
var ErrInterrupted = errors.New("interrupted")

// Reader reads one message after the other. It is not safe for concurrent use.
type Reader interface {
	// Read shows prompt and returns the next message as it was typed or pasted, tabs and newlines included. The error
	// is [io.EOF] at the end of the input (Ctrl-D on an empty message), ErrInterrupted, or the context's.
	Read(ctx context.Context, prompt string) (string, error)
	// Ask shows a question and returns the line that is typed. It is no message, so no history has it.
	Ask(ctx context.Context, question string) (string, error)
	// Close restores the terminal and stores the history of messages.
	Close() error
}

// Config is what a reader needs.
type Config struct {
	In          io.Reader                  // of the process
	Err         io.Writer                  // the prompt goes there
	HistoryFile string                     // "" keeps no history
	Complete    func(line string) []string // what a line may become, for the Tab key
}
