// Package suggest offers names: to the shell while a user types, and in an error for a name that
// was mistyped.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// SessionFiles are the usual endings of session files.
var SessionFiles = []string{"db", "sqlite", "sqlite3"}

// DidYouMean is a part of an error: the names that are most like the typed one, each behind prefix,
// as in " (did you mean --limit?)". It is empty if no name is near.
func DidYouMean(typed string, names []string, prefix string) string {
	found := nearest(typed, names)
	if len(found) == 0 {
		return ""
	}
	for i := range found {
		found[i] = prefix + found[i]
	}
	return " (did you mean " + terminal.List(found, "or") + "?)"
}

// nearest returns the names that begin with the typed one. If there are none, it returns those that
// a few typing errors away, at equal distance.
func nearest(typed string, names []string) []string {
	typed = strings.ToLower(typed)
	var found, begun []string
	least := 1 + min(2, len(typed)/3)
	if len(typed) > 8 {
		least++
	}
	for _, name := range names {
		if len(typed) >= 2 && strings.HasPrefix(name, typed) {
			begun = append(begun, name)
		}
		distance := levenshtein.ComputeDistance(typed, name)
		switch {
		case distance >= max(len(typed), 1): // the two share no letter
		case distance < least:
			least, found = distance, []string{name}
		case distance == least:
			found = append(found, name)
		}
	}
	if len(begun) > 0 {
		return begun
	}
	return found
}

// Commands returns the names of the subcommands of c.
func Commands(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// Starting returns the values that begin with the typed text.
func Starting(values []string, typed string) []string {
	var found []string
	for _, value := range values {
		if strings.HasPrefix(value, typed) {
			found = append(found, value)
		}
	}
	return found
}

// Fits reports whether a name can be offered to a shell for the typed text.
func Fits(name, typed string) bool { return plain(name) && strings.HasPrefix(name, typed) }

// plain reports whether a shell can be offered a name. Shells read one name a line, with a tab in
// front of its description.
func plain(name string) bool { return name != "" && name == terminal.Printable(name) }
