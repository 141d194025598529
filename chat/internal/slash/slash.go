// Package slash knows the commands of a chat by name: it parses lines, suggests the nearest command, completes, and
// writes the help. It is pure, and knows nothing of what the commands do.
package slash

import (
	"fmt"
	"slices"
	"strings"
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
func Unknown(name string, _ []Command) error {
	return fmt.Errorf("no command is named /%s; /help lists them", name)
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
