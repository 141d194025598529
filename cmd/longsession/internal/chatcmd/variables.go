package chatcmd

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/config"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// variablePrefix begins the names of the variables of this program.
const variablePrefix = "LONGSESSION_"

// others are variables of the program that are no settings.
var others = []string{config.PathVariable, openAIKeys[0], "LONGSESSION_DSN"}

// lowerVariable is the name of one in small letters, in which package suggest compares.
var lowerVariable = regexp.MustCompile(`longsession_\w+`)

// UnreadVariable is one whose name is like those of this program, and that nothing reads.
type UnreadVariable struct {
	Name string
	// Near is " (did you mean LONGSESSION_THRESHOLD?)", or "" if no name is near.
	Near string
}

// String says so. It has no value: that may be a secret.
func (v UnreadVariable) String() string {
	return terminal.Printable(v.Name) + " is set, and nothing reads it" + v.Near
}

// UnreadVariables returns them by their names. environment is as of [os.Environ]. A variable that is set to nothing is
// unset.
func UnreadVariables(environment []string) []UnreadVariable {
	known := slices.Clone(others)
	for _, key := range config.Keys() {
		if name := key.Environment(); name != "" {
			known = append(known, name)
		}
	}
	// Only what follows the prefix is compared, because all names share the prefix.
	var tails []string
	for _, name := range known {
		tails = append(tails, strings.ToLower(strings.TrimPrefix(name, variablePrefix)))
	}
	var unread []UnreadVariable
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		tail, ours := strings.CutPrefix(name, variablePrefix)
		if ours && value != "" && !slices.Contains(known, name) {
			near := suggest.DidYouMean(tail, tails, "longsession_")
			unread = append(unread, UnreadVariable{name, lowerVariable.ReplaceAllStringFunc(near, strings.ToUpper)})
		}
	}
	slices.SortFunc(unread, func(a, b UnreadVariable) int { return strings.Compare(a.Name, b.Name) })
	return unread
}

// WarnOfVariables writes a line for each variable that was probably mistyped. One that is like no other is not
// mentioned: it may belong to another program.
func WarnOfVariables(w io.Writer) {
	for _, v := range UnreadVariables(os.Environ()) {
		if v.Near != "" {
			fmt.Fprintln(w, v)
		}
	}
}
