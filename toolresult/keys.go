package toolresult

import "github.com/adk-go-ext/longsession/toolresult/store"

// ReadResultName is the name of the tool by which the model reads whole results.
const ReadResultName = "read_result"

// RefKey is the key of a shortened result that holds the reference of the whole result.
const RefKey = "ref_id"

// isNote reports whether another layer wrote an entry of a result as a note to the model. A shortened
// result keeps it as it is.
func isNote(key string, value any) bool { return store.IsNote(key, value) }
