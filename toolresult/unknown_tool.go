package toolresult

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// The parts of ADK's error for a call of a tool that does not exist. Between them is the list of all tools,
// in random order.
const (
	notFoundOpens  = "tool '%s' not found.\nAvailable tools: "
	notFoundCloses = "\n\nPossible causes:"
)

const (
	maxNearest = 5  // names that are similar to the one called
	maxListed  = 20 // names if none is similar
	maxName    = 64 // runes of a name; the Gemini API allows no more
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
	return unknownToolText(called, slices.DeleteFunc(names, func(name string) bool { return name == "" })), true
}

// unknownToolText names the tools that the model may have meant. names are sorted.
func unknownToolText(called string, names []string) string {
	head := fmt.Sprintf("There is no tool %q.", firstRunes(called, maxName))
	if len(names) == 0 {
		return head
	}
	if near := nearest(called, names); len(near) > 0 {
		return head + " Did you mean " + strings.Join(near, ", ") + "?"
	}
	text := head + " The tools are: " + strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}

// nearest returns the names that are most similar to the one called: those that contain it or are contained
// in it, then those within a third of its letters.
func nearest(called string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	wanted := strings.ToLower(firstRunes(called, maxName))
	for _, name := range names {
		own := strings.ToLower(firstRunes(name, maxName))
		distance := 0
		if len(wanted) < 3 || len(own) < 3 || !strings.Contains(own, wanted) && !strings.Contains(wanted, own) {
			distance = levenshtein.ComputeDistance(wanted, own)
		}
		if distance <= max(1, len(wanted)/3) {
			near = append(near, candidate{name, distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	out := make([]string, 0, maxNearest)
	for _, c := range near[:min(len(near), maxNearest)] {
		out = append(out, c.name)
	}
	return out
}
