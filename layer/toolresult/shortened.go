package toolresult

import (
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// IsShortened reports whether a response is a stub, a cut or a mask that this package wrote, or an answer of
// read_result, and returns the reference of the whole result. It requires both the key ref_id and the text
// that each of these forms has. A tool that imitates both can hide only its own result.
func IsShortened(tool string, response map[string]any) (ref string, ok bool) {
	if ref = refIn(response); !store.IsRef(ref) {
		return "", false
	}
	if tool == ReadResultName || recognized(response) {
		return ref, true
	}
	return "", false
}

// recognized reports whether a response has a reference and the text of a stub, a cut or a mask.
func recognized(response map[string]any) bool {
	if !store.IsRef(refIn(response)) {
		return false
	}
	if len(notes.Without(response)) == 1 {
		return true // no room was left for anything else
	}
	if text, ok := response["result"].(string); ok && (strings.HasPrefix(text, stubPrefix) || strings.HasPrefix(text, maskOpens)) {
		return true
	}
	f := markerFinder{left: maxMarkerSearch}
	f.value(response)
	return f.lines > 0
}

// maxMarkerSearch bounds the values in which markers are looked for.
const maxMarkerSearch = 1 << 16

// markerLines returns the number of lines that markers may have added to a response: a marker is on a line
// of its own, and one that counts tokens may divide a line in two. A tool that writes markers itself
// evades the limit of lines by this, but no other limit.
func markerLines(response map[string]any) int {
	f := markerFinder{left: maxMarkerSearch}
	f.value(response)
	return f.lines
}

// markerFinder counts markers in a value.
type markerFinder struct {
	path  canonical.Path
	left  int
	lines int
}

func (f *markerFinder) value(v any) {
	if f.left--; f.left < 0 {
		return
	}
	switch v := v.(type) {
	case string:
		f.lines += strings.Count(v, omittedPrefix) + 2*strings.Count(v, truncatedPrefix)
		if v == shortMarker {
			f.lines++
		}
	case map[string]any:
		if f.path.EnterObject(v) != "" {
			return
		}
		defer f.path.Leave()
		for _, element := range v {
			f.value(element)
		}
	case []any:
		if f.path.EnterList(v) != "" {
			return
		}
		defer f.path.Leave()
		for _, element := range v {
			f.value(element)
		}
	}
}
