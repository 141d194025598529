package store

import "github.com/adk-go-ext/longsession/internal/notes"

// IsNote reports whether an entry of a function response is a note that a layer wrote for the model, such
// as the status of the context window. A note is a text in brackets, and no part of the tool's result.
func IsNote(key string, value any) bool { return notes.Is(key, value) }

// WithoutNotes returns a response as the tool returned it: response itself if it has no note.
func WithoutNotes(response map[string]any) map[string]any { return notes.Without(response) }
