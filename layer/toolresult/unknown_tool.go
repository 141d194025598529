package toolresult

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/notes"
	"github.com/adk-go-ext/longsession/internal/unknowntool"
)

// The parts of ADK's error for a call of a tool that does not exist. Between them is the list of all tools,
// in random order.
const (
	notFoundOpens  = "tool '%s' not found.\nAvailable tools: "
	notFoundCloses = "\n\nPossible causes:"
)

// unknownTool returns what takes the place of ADK's response for an unknown tool: a text that is short, and the
// same for the same tools. Notes that other layers have written into the response stay. It reports false for
// every other response.
func unknownTool(called string, response map[string]any) (map[string]any, bool) {
	text, ok := response[errorKey].(string)
	if !ok || len(notes.Without(response)) != 1 {
		return nil, false
	}
	rest, ok := strings.CutPrefix(text, fmt.Sprintf(notFoundOpens, called))
	if !ok {
		return nil, false
	}
	list, _, ok := strings.Cut(rest, notFoundCloses)
	if !ok {
		return nil, false
	}
	names := strings.Split(list, ", ")
	slices.Sort(names)
	response = maps.Clone(response)
	response[errorKey] = unknowntool.Text(called, slices.DeleteFunc(names, func(name string) bool { return name == "" }))
	return response, true
}
