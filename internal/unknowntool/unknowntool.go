// Package unknowntool writes the answer to a call of a tool that does not exist.
package unknowntool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

const (
	maxNearest = 5  // names that are similar to the one called
	maxListed  = 20 // names if none is similar
	maxName    = 64 // runes of a name; the Gemini API allows no more
)

// The tools by which a model finds and calls the tools that are not declared to it. They are those of
// package toolsearch.
const (
	searchTool = "tool_search"
	callTool   = "tool_call"
)

// Text returns an answer to a call of a tool that is not among those that names lists, sorted. It names the
// tools that the model may have meant. If tools are deferred, it says how to find others.
func Text(called string, names []string) string {
	deferred := has(names, searchTool) && has(names, callTool)
	if deferred {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == searchTool || name == callTool })
	}
	head := fmt.Sprintf("There is no tool %q.", firstRunes(called, maxName))
	most := maxNearest
	if deferred {
		most = 3
	}
	near := nearest(called, names, most)
	if len(near) > 0 {
		head += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	switch {
	case deferred:
		return head + " Find tools with " + searchTool + "."
	case len(near) > 0 || len(names) == 0:
		return head
	}
	text := head + " The tools are: " + strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}

func has(names []string, name string) bool {
	_, found := slices.BinarySearch(names, name)
	return found
}

// nearest returns the names that are most similar to the one called, at most so many: those that contain it
// or are contained in it, then those within a third of its letters.
func nearest(called string, names []string, most int) []string {
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
	out := make([]string, 0, most)
	for _, c := range near[:min(len(near), most)] {
		out = append(out, c.name)
	}
	return out
}

// firstRunes returns at most the first n runes of a text.
func firstRunes(text string, n int) string {
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}
