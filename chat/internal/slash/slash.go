// Package slash knows the commands of a chat by name: it parses lines, suggests the nearest command, completes, and
// writes the help. It is pure, and knows nothing of what the commands do.
package slash

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Command is one slash command.
type Command struct {
	Name    string   // without the slash
	Aliases []string // without the slash
	Args    string   // as the help shows them, such as "[focus]"
	Help    string   // one line
}

// Is reports whether the command has this name.
func (c Command) Is(name string) bool { return c.Name == name || slices.Contains(c.Aliases, name) }

// Parse returns the name and the arguments of a command. ok is false if the text is no command but a message: it does
// not begin with a slash and a letter, or has several lines.
func Parse(text string) (name, args string, ok bool) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "/")
	if !ok || rest == "" || strings.Contains(text, "\n") || (rest[0]|0x20) < 'a' || (rest[0]|0x20) > 'z' {
		return "", "", false
	}
	name, args, _ = strings.Cut(rest, " ")
	return name, strings.TrimSpace(args), true
}

// Unknown is the error of a name that no command has.
func Unknown(name string, all []Command) error {
	if near := Nearest(name, all); near != "" {
		return fmt.Errorf("no command is named /%s; did you mean /%s?", name, near)
	}
	return fmt.Errorf("no command is named /%s; /help lists them", name)
}

// Nearest returns the name that was probably meant: the first one that begins with the typed name, or else the one
// with the fewest edits, of at most two. It returns "" if there is none.
func Nearest(name string, all []Command) string {
	best, edits := "", 3
	for _, c := range all {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			if strings.HasPrefix(known, name) {
				return known
			}
			if d := levenshtein.ComputeDistance(name, known); d < edits {
				best, edits = known, d
			}
		}
	}
	return best
}

// Complete returns what a line may become, sorted.
func Complete(line string, all []Command) (out []string) {
	for _, c := range all {
		if strings.HasPrefix("/"+c.Name, line) {
			out = append(out, "/"+c.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Help lists commands, one a line.
func Help(all []Command) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "  /%-28s %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
	}
	return b.String()
}
