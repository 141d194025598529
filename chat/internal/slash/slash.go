// Package slash knows the commands of a chat by name: it parses lines, suggests the nearest command, completes, and
// writes the help. It is pure, and knows nothing of what the commands do.
package slash

// Command is one slash command.
type Command struct {
	Name    string   // without the slash
	Aliases []string // without the slash
	Args    string   // as the help shows them, such as "[focus]"
	Help    string   // one line
}
