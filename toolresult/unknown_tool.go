package toolresult

import (
	"fmt"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/internal/unknowntool"
)

// The parts of ADK's error for a call of a tool that does not exist. Between them is the list of all tools,
// in random order.
const (
	notFoundOpens  = "tool '%s' not found.\nAvailable tools: "
	notFoundCloses = "\n\nPossible causes:"
)

// unknownTool returns a text that takes the place of ADK's error for an unknown tool: short, and the same
// for the same tools. It reports false for every other response.
func unknownTool(called string, response map[string]any) (string, bool) {
	text, ok := response[errorKey].(string)
	if !ok || len(response) != 1 {
		return "", false
	}
	rest, ok := strings.CutPrefix(text, fmt.Sprintf(notFoundOpens, called))
	if !ok {
		return "", false
	}
	list, _, ok := strings.Cut(rest, notFoundCloses)
	if !ok {
		return "", false
	}
	names := strings.Split(list, ", ")
	slices.Sort(names)
	return unknowntool.Text(called, slices.DeleteFunc(names, func(name string) bool { return name == "" })), true
}
