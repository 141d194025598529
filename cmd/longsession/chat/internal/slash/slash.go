// Package slash knows the commands of a chat by name: it parses lines, suggests the nearest command, completes, and
// writes the help. It is pure, and knows nothing of what the commands do.
package slash

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// Command is one slash command.
type Command struct {
	Name    string   // without the slash, in small letters
	Aliases []string // without the slash
	Args    string   // as the help shows them, such as "[focus]"
	Help    string   // one line
}

// Is reports whether the command has this name.
func (c Command) Is(name string) bool { return c.Name == name || slices.Contains(c.Aliases, name) }

// usage is the command as it is typed.
func (c Command) usage() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

// about is the help with the other names.
func (c Command) about() string {
	if len(c.Aliases) == 0 {
		return c.Help
	}
	return c.Help + " (also /" + strings.Join(c.Aliases, ", /") + ")"
}

// Parse returns the name, in small letters, and the arguments of a command. ok is false if the text is a message. A
// command is one line that begins with a slash and a name of ASCII letters, digits and dashes, so "/usr/bin/env" is a
// message, and so is " /compact", which begins with a blank.
func Parse(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimRightFunc(text, unicode.IsSpace), "/")
	if !ok || strings.ContainsAny(rest, "\n\r") {
		return "", "", false
	}
	name = rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		name, args = rest[:end], strings.TrimSpace(rest[end:])
	}
	if !isName(name) {
		return "", "", false
	}
	return strings.ToLower(name), args, true
}

// isName reports whether a command could be named so.
func isName(name string) bool {
	for i, r := range []byte(name) {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return name != ""
}

// Unknown is the error of a name that no command has. It names those that were probably meant.
func Unknown(name string, all []Command) error {
	text := "no command is named /" + name
	if near := Nearest(name, all); len(near) > 0 {
		return errors.New(text + "; did you mean " + either(near) + "?")
	}
	return errors.New(text + "; /help lists them, and a blank in front of the slash makes it a message")
}

// either joins names for a question: "/a", "/a or /b", "/a, /b or /c".
func either(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return "/" + names[0]
	}
	return "/" + strings.Join(names[:last], ", /") + " or /" + names[last]
}

// maxEdits is how many edits a name may be away from one that is suggested. A short name may be fewer.
const maxEdits = 2

// Nearest returns the names that were probably meant, in the order of the commands: all that begin with the typed name,
// or else those with the fewest edits. A command is named once.
func Nearest(name string, all []Command) []string {
	var begin, near []string
	fewest := min(maxEdits, len(name)/2)
	for _, c := range all {
		found, edits := "", fewest
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			if strings.HasPrefix(known, name) {
				begin = append(begin, known)
				break
			}
			if d := levenshtein.ComputeDistance(name, known); d < edits || d == edits && found == "" {
				found, edits = known, d
			}
		}
		switch {
		case found == "":
		case edits < fewest:
			near, fewest = []string{found}, edits
		default:
			near = append(near, found)
		}
	}
	if len(begin) > 0 {
		return begin
	}
	return near
}

// Complete returns the commands that a line may become, sorted: those whose names begin with it or, if there are none,
// those with such an alias. A line with arguments is complete.
func Complete(line string, all []Command) []string {
	typed, ok := strings.CutPrefix(line, "/")
	if !ok || strings.ContainsFunc(typed, unicode.IsSpace) {
		return nil
	}
	typed = strings.ToLower(typed)
	var names, aliases []string
	for _, c := range all {
		if strings.HasPrefix(c.Name, typed) {
			names = append(names, "/"+c.Name)
		}
		for _, alias := range c.Aliases {
			if strings.HasPrefix(alias, typed) {
				aliases = append(aliases, "/"+alias)
			}
		}
	}
	if len(names) == 0 {
		names = aliases
	}
	slices.Sort(names)
	return names
}

// column is where the help of a command begins, if the line has room for it.
const column = 36

// narrow is the width in columns below which the help of a command comes on a line of its own.
const narrow = 72

// Help lists commands. wrap breaks a text between words, and indents every line but the first; columns is the width of
// the screen, 0 for a file or a pipe.
func Help(all []Command, columns int, wrap func(text string, indent int) string) string {
	var b strings.Builder
	for _, c := range all {
		if columns > 0 && columns < narrow {
			fmt.Fprintf(&b, "%s\n    %s\n", wrap(c.usage(), 4), wrap(c.about(), 4))
			continue
		}
		fmt.Fprintf(&b, "  %-*s%s\n", column-2, c.usage(), wrap(c.about(), column))
	}
	return b.String()
}
