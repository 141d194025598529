package auditcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
)

// onDatabase lets a command read the sessions of a PostgreSQL database in the place of those of a file. They are copied
// to a temporary file, each in one transaction, so the command looks at one moment of each.
func onDatabase(a *command, c *cobra.Command) {
	checkArgs, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, args []string) error {
		switch {
		case a.dsn == "":
			return checkArgs(c, args)
		case c.Name() == "seal", c.Flags().Changed("against"):
			return exit.Usage("--dsn: seals are of session files; copy the sessions to one with 'longsession import', and seal that")
		case len(args) > mostArgs(c)-1:
			return exit.Usage("%d arguments and --dsn: leave out the FILE, since the database takes its place", len(args))
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if a.dsn == "" {
			return run(cmd, args)
		}
		return withCopy(a, cmd, args, run)
	}
}

// mostArgs is how many arguments a command takes, its FILE among them.
func mostArgs(c *cobra.Command) int {
	if c.Name() == "result" {
		return 3
	}
	return 2
}

// withCopy copies the sessions that the arguments name to a file, and runs a command on it.
func withCopy(a *command, cmd *cobra.Command, args []string, run func(*cobra.Command, []string) error) (err error) {
	ctx := cmd.Context()
	dir, err := os.MkdirTemp("", "longsession")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "copy.db")
	which := transfer.Which{App: a.narrow.App, User: a.narrow.User}
	if len(args) > 0 {
		which.Session = args[0]
	}
	p := terminal.NewProgress(cmd.ErrOrStderr(), -1)
	err = copyTo(ctx, path, a.dsn, which, p, a.lost)
	p.Finish()
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("nothing was shown")
	case err != nil:
		return err
	}
	return run(cmd, append([]string{path}, args...))
}

// copyTo copies sessions of a database to a new file, and counts what it loses of each.
func copyTo(ctx context.Context, path, dsn string, which transfer.Which, p *terminal.Progress, lost map[transfer.Name]transfer.Losses) (err error) {
	from, err := transfer.OpenDatabase(ctx, dsn, false, false)
	if err != nil {
		return exit.Usage("--dsn: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	names, err := from.Choose(ctx, which)
	var none *transfer.ErrWhich
	switch {
	case errors.As(err, &none):
		return exit.Usage("%w", err)
	case err != nil:
		return exit.Failed("%w", err)
	}
	to, err := transfer.CreateFile(path, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	events := 0
	progress := func(n int) {
		events += n
		p.Advance(0, func() string { return terminal.Plural(events, "event") + " read" })
	}
	for _, name := range names {
		copied, err := transfer.Copy(ctx, from, to, name, transfer.Options{Unchecked: true, Progress: progress})
		var deleted *transfer.DeletedError
		if err != nil && !(errors.As(err, &deleted) && len(names) > 1) {
			return exit.Failed("%w", err)
		}
		if err == nil {
			lost[name] = copied.Losses
		}
	}
	return nil
}
