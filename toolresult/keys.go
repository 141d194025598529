package toolresult

import "slices"

// ReadResultName is the name of the tool by which the model reads whole results.
const ReadResultName = "read_result"

// RefKey is the key of a shortened result that holds the reference of the whole result.
const RefKey = "ref_id"

// noteKeys are the keys under which other layers write a note to the model into a result. A shortened
// result keeps them as they are.
var noteKeys = []string{"context_status"}

// isNote reports whether another layer wrote a key of a result.
func isNote(key string) bool { return slices.Contains(noteKeys, key) }
