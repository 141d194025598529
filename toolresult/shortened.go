package toolresult

import (
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// IsShortened reports whether a response is a stub, a cut or a mask that this package wrote, or an answer of
// read_result, and returns the reference of the whole result. It goes by the key ref_id together with
// the text that each of them has; neither alone is enough. A tool that imitates both hides nothing but its
// own result.
func IsShortened(tool string, response map[string]any) (ref string, ok bool) {
	ref, ok = response[RefKey].(string)
	if !ok || !store.IsRef(ref) {
		return "", false
	}
	if tool == ReadResultName || recognized(response) {
		return ref, true
	}
	return "", false
}

// recognized reports whether a response has a reference and the text of a stub, a cut or a mask.
func recognized(response map[string]any) bool {
	if ref, ok := response[RefKey].(string); !ok || !store.IsRef(ref) {
		return false
	}
	if len(response) == 1 {
		return true // no room was left for anything else
	}
	if text, ok := response["result"].(string); ok && (strings.HasPrefix(text, stubPrefix) || strings.HasPrefix(text, maskOpens)) {
		return true
	}
	f := markerFinder{left: maxMarkerSearch}
	f.value(response)
	return f.found > 0
}

// maxMarkerSearch bounds the values in which markers are looked for.
const maxMarkerSearch = 1 << 16

// maxMarkerLines is how many lines of markers do not count as lines. A result has one for each text that
// was cut, so a tool that writes them itself gains little.
const maxMarkerLines = 32

// markerLines returns the number of lines with markers in a response.
func markerLines(response map[string]any) int {
	f := markerFinder{left: maxMarkerSearch}
	f.value(response)
	return min(f.found, maxMarkerLines)
}

// markerFinder counts markers in a value.
type markerFinder struct {
	path  canonical.Path
	left  int
	found int
}

func (f *markerFinder) value(v any) {
	if f.left--; f.left < 0 {
		return
	}
	switch v := v.(type) {
	case string:
		for _, prefix := range []string{omittedPrefix, truncatedPrefix} {
			f.found += strings.Count(v, prefix)
		}
	case map[string]any:
		if f.path.Enter(v) != "" {
			return
		}
		defer f.path.Leave()
		for _, element := range v {
			f.value(element)
		}
	case []any:
		if f.path.Enter(v) != "" {
			return
		}
		defer f.path.Leave()
		for _, element := range v {
			f.value(element)
		}
	}
}
