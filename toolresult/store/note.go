package store

import (
	"slices"
	"strings"
)

// maxNote bounds a note, in bytes, and noteOpens begins it. Every other value under a note's key is part of
// the tool's result.
const (
	maxNote   = 1 << 10
	noteOpens = "[Context: "
)

// noteKeys are the keys under which a layer writes a note to the model into a result.
var noteKeys = []string{"context_status"}

// IsNote reports whether an entry of a function response is a note that a layer wrote for the model, such
// as the status of the context window. A note is a short text in brackets, and no part of the tool's result.
func IsNote(key string, value any) bool {
	text, ok := value.(string)
	return ok && len(text) <= maxNote && strings.HasPrefix(text, noteOpens) && slices.Contains(noteKeys, key)
}

// WithoutNotes returns a response as the tool returned it: response itself if it has no note.
func WithoutNotes(response map[string]any) map[string]any {
	notes := 0
	for _, key := range noteKeys {
		if value, found := response[key]; found && IsNote(key, value) {
			notes++
		}
	}
	if notes == 0 {
		return response
	}
	out := make(map[string]any, len(response)-notes)
	for key, value := range response {
		if !IsNote(key, value) {
			out[key] = value
		}
	}
	return out
}
