package toolresult

import "github.com/adk-go-ext/longsession/internal/notes"

// ReadResultName is the name of the tool by which the model reads whole results.
const ReadResultName = "read_result"

// refKey is the key of a shortened result that holds the reference of the whole result.
const refKey = "ref_id"

// refIn returns the text that a response has under [refKey]: a reference in a response of this package. It
// returns "" if there is no text.
func refIn(response map[string]any) string {
	ref, _ := response[refKey].(string)
	return ref
}

// copyNotes copies the notes that other layers wrote into a response. Every shortened form of a result keeps
// them as they are.
func copyNotes(to, from map[string]any) {
	for key, value := range from {
		if notes.Is(key, value) {
			to[key] = value
		}
	}
}
