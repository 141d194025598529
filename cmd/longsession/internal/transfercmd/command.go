package transfercmd

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
)

//go:embed help
var helpTexts embed.FS

// Variable is the environment variable with the database that --dsn does not name. Unlike a flag, others who use the
// machine cannot see it.
const Variable = "LONGSESSION_DSN"

// command holds the flags.
type command struct {
	toFile       bool // import
	dsn          string
	which        transfer.Which
	dry, json    bool
	createTables bool
	replaceNUL   bool
}

// ExportCommand returns the export command.
func ExportCommand() *cobra.Command {
	return (&command{}).cobra("export", "Copy sessions from a session file to PostgreSQL",
		"  longsession export sessions.db --dsn postgres://app@db.example.com/sessions --dry-run\n"+
			"  longsession export sessions.db order-1 --dsn postgres://app@db.example.com/sessions")
}

// ImportCommand returns the import command.
func ImportCommand() *cobra.Command {
	return (&command{toFile: true}).cobra("import", "Copy sessions from PostgreSQL to a session file",
		"  longsession import sessions.db --dsn postgres://app@db.example.com/sessions --app shop\n"+
			"  longsession import order.db shop/ada/order-1 --dsn postgres://app@db.example.com/sessions")
}

func (c *command) cobra(name, short, example string) *cobra.Command {
	help, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	cmd := &cobra.Command{Use: name + " FILE.db [SESSION]", Short: short, Long: string(help), Example: example, Args: checkArgs, RunE: c.run,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return suggest.SessionFiles, cobra.ShellCompDirectiveFilterFileExt
		}}
	settings := []setting.Setting{
		{Name: "dsn", Value: setting.Text(&c.dsn), Help: "the database: postgres://user@host/name, or key=value pairs; without it, " + Variable},
		{Name: "app", Value: setting.Text(&c.which.App), Help: "only sessions of this app"},
		{Name: "user", Value: setting.Text(&c.which.User), Help: "only sessions of this user"},
		{Name: "dry-run", Value: setting.Switch(&c.dry), Help: "compare and count, and write nothing"},
	}
	if !c.toFile {
		settings = append(settings,
			setting.Setting{Name: "create-tables", Value: setting.Switch(&c.createTables), Help: "create the tables of ADK's session service if there are none"},
			setting.Setting{Name: "replace-nul", Value: setting.Switch(&c.replaceNUL), Help: "write U+FFFD for NUL characters and bytes that are not UTF-8, which PostgreSQL does not store"})
	}
	setting.Add(cmd, append(settings, setting.Setting{Name: "json", Value: setting.Switch(&c.json), Help: "write JSON Lines; the help above lists the fields"})...)
	return cmd
}

func checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Usage("no FILE given: name a session file, such as sessions.db")
	case len(args) > 2:
		return exit.Usage("%d arguments: give a FILE and at most one SESSION (quote names with spaces)", len(args))
	}
	return nil
}

func (c *command) run(cmd *cobra.Command, args []string) (err error) {
	ctx := cmd.Context()
	if len(args) == 2 {
		c.which.Session = args[1]
	}
	dsn := cmp.Or(c.dsn, os.Getenv(Variable))
	switch {
	case dsn == "":
		return exit.Usage("no database given: name it with --dsn postgres://user@host/name, or in the variable %s", Variable)
	case c.dry && c.createTables:
		return exit.Usage("--dry-run and --create-tables: a dry run creates nothing; choose one")
	}
	if c.toFile {
		err = c.importTo(ctx, cmd, args[0], dsn)
	} else {
		err = c.exportFrom(ctx, cmd, args[0], dsn)
	}
	var which *transfer.ErrWhich
	var interrupted *exit.Error
	switch {
	case errors.As(err, &interrupted):
		return err
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("nothing was copied")
	case errors.As(err, &which):
		return exit.Usage("%w", err)
	}
	return err
}

func (c *command) exportFrom(ctx context.Context, cmd *cobra.Command, path, dsn string) (err error) {
	from, err := transfer.OpenFile(path)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	names, err := from.Choose(ctx, c.which)
	if err != nil {
		return err
	}
	to, err := transfer.OpenDatabase(ctx, dsn, !c.dry, c.createTables)
	if err != nil {
		return usageUnlessEnded(ctx, err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return c.copy(ctx, cmd, from, to, names)
}

func (c *command) importTo(ctx context.Context, cmd *cobra.Command, path, dsn string) (err error) {
	from, err := transfer.OpenDatabase(ctx, dsn, false, false)
	if err != nil {
		return usageUnlessEnded(ctx, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	names, err := from.Choose(ctx, c.which) // before a file is created
	if err != nil {
		return err
	}
	if _, missing := os.Lstat(path); c.dry && errors.Is(missing, fs.ErrNotExist) {
		dir, err := os.MkdirTemp("", "longsession")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path = filepath.Join(dir, "empty.db")
	} else if c.dry {
		to, unopened := transfer.OpenFile(path)
		if unopened != nil {
			return exit.Usage("%w", unopened)
		}
		defer func() { err = errors.Join(err, to.Close()) }()
		return c.copy(ctx, cmd, from, to, names)
	}
	to, err := transfer.CreateFile(path, false)
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	return c.copy(ctx, cmd, from, to, names)
}

// usageUnlessEnded makes the error of a database that cannot be opened one of usage.
func usageUnlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return exit.Usage("%w", err)
}

// copy copies the sessions one after the other. A session that the target has in another form does not stop the others.
func (c *command) copy(ctx context.Context, cmd *cobra.Command, from, to transfer.Store, names []transfer.Name) error {
	options := transfer.Options{DryRun: c.dry, ReplaceNUL: c.replaceNUL}
	if !c.toFile { // a database refuses what a file may have
		if err := transfer.Check(ctx, from, to, names, options); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return exit.Usage("%w", err)
		}
	}
	p := terminal.NewProgress(cmd.ErrOrStderr(), int64(len(names)))
	defer p.Finish()
	out := newOutput(cmd.OutOrStdout(), c.json, c.dry, to.Where())
	for _, name := range names {
		options.Progress = func(n int) {
			out.passed += n
			p.Advance(0, func() string { return terminal.Plural(out.passed, "event") })
		}
		result, err := transfer.Copy(ctx, from, to, name, options)
		var different *transfer.DifferentError
		var deleted *transfer.DeletedError
		switch {
		case errors.As(err, &deleted) && len(names) > 1:
			p.Advance(1, func() string { return terminal.Plural(out.passed, "event") })
			continue
		case errors.As(err, &different):
			result = &transfer.Result{Name: name, Losses: transfer.Losses{}, Findings: []string{err.Error()}}
		case err != nil && ctx.Err() != nil:
			p.Finish()
			return errors.Join(out.flush(), exit.Interrupted(out.done(len(names))))
		case err != nil:
			p.Finish()
			return errors.Join(out.flush(), exit.Failed("%w; %s", err, out.done(len(names))))
		}
		p.Advance(1, func() string { return terminal.Plural(out.passed, "event") })
		if err := p.Aside(func() error { return out.result(result) }); err != nil {
			return err
		}
	}
	p.Finish()
	if err := out.sum(); err != nil {
		return err
	}
	if out.findings > 0 {
		return exit.Findings(out.findings)
	}
	return nil
}
