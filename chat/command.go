package chat

import (
	"context"
	"fmt"
	"io"

	"github.com/adk-go-ext/longsession/chat/internal/slash"
)

// allCommands are the commands of this chat.
func (c *Chat) allCommands() []command {
	return []command{
		{slash.Command{Name: "help", Help: "lists the commands"}, func(_ context.Context, c *Chat, _ string, w io.Writer) error {
			_, err := io.WriteString(w, slash.Help(c.known()))
			return err
		}},
		{slash.Command{Name: "tokens", Help: "shows how much of the context window is used"}, func(_ context.Context, c *Chat, _ string, w io.Writer) error {
			if c.cfg.Stack == nil {
				return errNoStack
			}
			_, err := fmt.Fprintln(w, c.cfg.Stack.Tracker(c.ref).Metrics())
			return err
		}},
		{slash.Command{Name: "quit", Aliases: []string{"exit"}, Help: "leaves the chat"}, func(context.Context, *Chat, string, io.Writer) error { return errLeave }},
	}
}

// known are the names of the commands.
func (c *Chat) known() []slash.Command {
	known := make([]slash.Command, len(c.commands))
	for i, cmd := range c.commands {
		known[i] = cmd.Command
	}
	return known
}

// complete returns what a line that begins a command may become.
func (c *Chat) complete(line string) []string { return slash.Complete(line, c.known()) }
