package chat

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/cmd/longsession/chat/internal/slash"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// errNoStack is the error of a command that shows the work of a layer.
var errNoStack = errors.New("this chat has no context management: its app has given it no stack")

// work is what a command does. It writes to w what the person sees.
type work = func(ctx context.Context, c *Chat, args string, w io.Writer) error

// allCommands are the commands of this chat, in the order of the help.
func allCommands(cfg Config) []command {
	all := []command{
		{slash.Command{Name: "help", Args: "[command]", Help: "lists the commands, or explains one"}, help},
		{slash.Command{Name: "compact", Aliases: []string{"summarize"}, Args: "[focus]", Help: "summarizes old turns now; the focus is kept in detail"}, layered(compact)},
		{slash.Command{Name: "done", Aliases: []string{"checkpoint"}, Args: "[note]", Help: "closes a finished task with a checkpoint"}, layered(done)},
		{slash.Command{Name: "context", Aliases: []string{"boundaries"}, Help: "shows what was done to the context"}, layered(showContext)},
		{slash.Command{Name: "tokens", Help: "shows how much of the context window is used"}, layered(showTokens)},
		{slash.Command{Name: "stats", Help: "shows tokens and costs of the session, by model"}, layered(showStats)},
		{slash.Command{Name: "compaction-status", Help: "shows when the next compaction is due, and what holds it up"}, layered(showCompaction)},
		{slash.Command{Name: "guard", Args: "[reset +usd]", Help: "shows limits and what is spent, or lets a stopped session go on"}, layered(showGuard)},
		{slash.Command{Name: "resume-after-cost-ceiling", Args: "[+usd]", Help: "lets a stopped session go on, with more to spend"}, layered(resumeAfterCeiling)},
		{slash.Command{Name: "recall", Args: "words", Help: "searches everything that was ever said in this session"}, layered(searchHistory)},
		{slash.Command{Name: "result", Args: "REF", Help: "shows a tool result as a whole"}, layered(showResult)},
		{slash.Command{Name: "tools", Help: "lists the agent's tools"}, showTools},
		{slash.Command{Name: "sessions", Help: "lists your sessions, the newest first"}, showSessions},
		{slash.Command{Name: "resume", Args: "[session]", Help: "goes on with another session, normally the newest"}, resume},
		{slash.Command{Name: "new", Help: "begins a new session"}, begin},
		{slash.Command{Name: "history", Args: "[n]", Help: "shows the newest messages, 10 if n is left out"}, showHistory},
		{slash.Command{Name: "quit", Aliases: []string{"exit"}, Help: "leaves the chat"}, quit},
	}
	if cfg.NoCheckpoint {
		all = slices.DeleteFunc(all, func(cmd command) bool { return cmd.Name == "done" })
	}
	return all
}

func quit(context.Context, *Chat, string, io.Writer) error { return errLeave }

// layered refuses a command where there is no stack.
func layered(run work) work {
	return func(ctx context.Context, c *Chat, args string, w io.Writer) error {
		if c.cfg.Stack == nil {
			return errNoStack
		}
		return run(ctx, c, args, w)
	}
}

// help lists the commands, or those that the person asks about.
func help(_ context.Context, c *Chat, name string, w io.Writer) error {
	known := c.known()
	if name = strings.ToLower(strings.TrimPrefix(name, "/")); name != "" {
		known = slices.DeleteFunc(known, func(cmd slash.Command) bool { return !cmd.Is(name) })
		if len(known) == 0 {
			return slash.Unknown(name, c.known())
		}
	}
	shown := terminal.Of(c.cfg.Out)
	_, err := io.WriteString(w, slash.Help(known, shown.Columns, shown.Wrap))
	return err
}

// known are the names of the commands.
func (c *Chat) known() []slash.Command {
	known := make([]slash.Command, len(c.commands))
	for i, cmd := range c.commands {
		known[i] = cmd.Command
	}
	return known
}

// maxCompletion is how long the person waits for Tab at most.
const maxCompletion = time.Second

// complete returns what a line that begins a command may become: the names of commands, and the sessions to resume.
func (c *Chat) complete(line string) []string {
	const resume = "/resume "
	typed, ok := strings.CutPrefix(line, resume)
	if !ok {
		return slash.Complete(line, c.known())
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxCompletion)
	defer cancel()
	all, err := c.cfg.list(ctx)
	if err != nil {
		return nil
	}
	var lines []string
	for _, s := range all {
		if strings.HasPrefix(s.id, typed) && s.id != c.ref.SessionID {
			lines = append(lines, resume+s.id)
		}
	}
	return lines
}
