package toolresult

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/canonical"
	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

const (
	previewRunes = 200 // of the beginning of a result in its stub
	tailRunes    = 400 // of the end of a failed one
	maxOutcome   = 400 // bytes of JSON of an entry that survives in a stub; a longer error is shortened
	maxOutcomes  = 16  // entries that survive
)

// stubOf returns the stub of a result: its size, its beginning, the entries with the outcome of the call, and
// how to read it. The stub never claims that the call succeeded.
func stubOf(tool string, response map[string]any, whole store.Result, lim limits) map[string]any {
	notes := map[string]any{}
	copyNotes(notes, response)
	outcomes := outcomesOf(response)
	tail := ""
	if callFailed(response) {
		tail = canonical.Text(lastRunes(tailText(response, whole), tailRunes))
	}
	// Each step leaves out more, for small limits.
	for _, step := range []struct {
		preview, outcomes, tail int
		notes                   bool
	}{
		{previewRunes, maxOutcomes, tailRunes, true}, {previewRunes, maxOutcomes, tailRunes / 2, true}, {previewRunes, 4, 0, true},
		{previewRunes / 2, 4, 0, true}, {40, 2, 0, true}, {0, 1, 0, true}, {0, 0, 0, true}, {0, 0, 0, false},
	} {
		stub := map[string]any{refKey: whole.Ref, "result": stubText(tool, whole, step.preview)}
		for _, o := range outcomes[:min(step.outcomes, len(outcomes))] {
			stub[o.key] = o.value
		}
		if text := lastRunes(tail, step.tail); text != "" {
			stub["tail"] = text
		}
		if step.notes {
			maps.Copy(stub, notes)
		}
		if fits(tool, stub, lim) {
			return stub
		}
	}
	return map[string]any{refKey: whole.Ref}
}

// stubText is the text of a stub.
func stubText(tool string, whole store.Result, preview int) string {
	start := canonical.Text(firstRunes(whole.Content, preview))
	if strings.Contains(start, "]\n") {
		// The text could go on as if the stub had ended. One line cannot.
		start = strings.ReplaceAll(start, "\n", " ")
	}
	return fmt.Sprintf("%s%s bytes from %q.\nFirst %d chars: %s]\nUse the %q tool with ref_id=%q to read specific portions.",
		stubPrefix, grouped(len(canonical.Text(whole.Content))), firstRunes(tool, 128), preview, start, ReadResultName, whole.Ref)
}

// fits reports whether a response that this package made is within the limits.
func fits(tool string, response map[string]any, lim limits) bool {
	lim.StubAbove = noLimit
	s := measure(response, lim)
	return s.within(lim) && tokensOf(tool, response, s, lim) <= lim.MaxTokens
}

// entry is a key of a response with its value.
type entry struct {
	key   string
	value any
}

// outcomeRoom is the room of a long error in a stub: its beginning and its end.
var outcomeRoom = textRoom{bytes: maxOutcome, lines: noLimit, first: 1, last: 1, strategy: Lines}

// outcomesOf returns the short entries with the outcome and the subject of a call, the most important ones
// first. A long error is shortened.
func outcomesOf(response map[string]any) []entry {
	var found []entry
	for _, key := range sortedKeys(response) {
		rank := importanceOf(key)
		if rank == ordinary || key == refKey || key == "result" || key == "tail" || notes.Is(key, response[key]) {
			continue
		}
		value := canonical.Level(response[key])
		switch v := value.(type) {
		case map[string]any, []any:
			if rank != failure {
				continue
			}
			value = outcomeRoom.cut(canonical.String(v))
		case string:
			v = canonical.Text(v)
			if escapedSize(v, maxOutcome) > maxOutcome {
				if rank != failure {
					continue
				}
				v = outcomeRoom.cut(v)
			}
			value = v
		}
		found = append(found, entry{canonical.Text(key), value})
	}
	slices.SortStableFunc(found, func(a, b entry) int { return int(importanceOf(b.key) - importanceOf(a.key)) })
	return found[:min(len(found), maxOutcomes)]
}

// tailText returns the text whose end most likely has the cause of a failure: stderr, or else the longest
// one.
func tailText(response map[string]any, whole store.Result) string {
	if text, ok := response["stderr"].(string); ok && strings.TrimSpace(text) != "" {
		return text
	}
	longest := ""
	for _, key := range sortedKeys(response) {
		if text, ok := response[key].(string); ok && len(text) > len(longest) {
			longest = text
		}
	}
	if longest == "" {
		return whole.Content
	}
	return longest
}
