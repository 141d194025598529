package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/compaction"
)

// auditing are the flags that all audit commands share, as they were given.
type auditing struct {
	narrow       audit.Narrow
	json         bool
	maxSummaries int
}

func auditCommand() *cobra.Command {
	a := &auditing{}
	cmd := &cobra.Command{
		Use:     "audit FILE.db [SESSION]",
		Short:   "Read a session file: what was said, what the model sees, and whether all is well",
		Long:    auditHelp,
		Example: auditExample,
		Args:    auditArgs,
		RunE:    a.overview,
	}
	flags := cmd.PersistentFlags()
	flags.SortFlags = false
	flags.StringVar(&a.narrow.App, "app", "", "only sessions of this app")
	flags.StringVar(&a.narrow.User, "user", "", "only sessions of this user")
	flags.BoolVar(&a.json, "json", false, "write JSON Lines; the help of each command lists the fields")
	a.boundFlag(cmd)
	cmd.AddCommand(a.listCommand(), a.historyCommand(), a.contextCommand(), a.compactionsCommand(), a.diffCommand(), a.verifyCommand(), a.sealCommand(), a.exportCommand())
	eachCommand(cmd, func(c *cobra.Command) { c.ValidArgsFunction = a.completeArgs })
	addCompletions(cmd, a.flagCompletions())
	return cmd
}

// boundFlag adds the flag that the checks take.
func (a *auditing) boundFlag(cmd *cobra.Command) {
	cmd.Flags().IntVar(&a.maxSummaries, "max-summaries", compaction.DefaultConfig().MaxSummaries, "summaries that a branch may show (the app's MaxSummaries)")
}

func auditArgs(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && c.HasSubCommands() && unknownAudit(c, args[0]) != "":
		return badInput("%q is no command of audit%s, and no file of that name is here", args[0], unknownAudit(c, args[0]))
	case len(args) == 0:
		return badInput("no FILE given: name a session file of package persistence")
	case len(args) > 2:
		return badInput("%d arguments: give a FILE and at most one SESSION (quote names with spaces)", len(args))
	}
	return nil
}

// unknownAudit says which command of audit was meant, if the name of a file that is not there looks like one.
func unknownAudit(c *cobra.Command, file string) string {
	if strings.ContainsAny(file, `./\`) {
		return ""
	}
	if _, err := os.Lstat(file); err == nil {
		return ""
	}
	if file == "help" {
		return " (did you mean --help?)"
	}
	return didYouMean(file, commandNames(c), "")
}

// open calls do with a file. What is wrong with the file or the session's name is bad input.
func (a *auditing) open(cmd *cobra.Command, args []string, do func(ctx context.Context, f *audit.File, out *auditOutput) error) (err error) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	if a.maxSummaries < 1 {
		return badInput("--max-summaries is %d: a branch shows at least 1", a.maxSummaries)
	}
	f, err := audit.Open(args[0])
	if err != nil {
		return badInput("%w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if missing := f.Incomplete(); missing != nil && cmd.Name() != "verify" { // of which it is a finding
		if _, err := fmt.Fprintf(cmd.ErrOrStderr(), "longsession: %s: %s\n", printable(args[0]), printable(missing.Error())); err != nil {
			return err
		}
	}
	out := newAuditOutput(cmd.OutOrStdout(), a.json)
	err = do(ctx, f, out)
	if flushed := out.flush(); flushed != nil && !errors.Is(err, flushed) { // else it has been told
		err = errors.Join(err, flushed)
	}
	var which *audit.ErrWhich
	switch {
	case err != nil && ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted: " + out.did())}
	case errors.As(err, &which):
		return badInput("%s: %w", args[0], err)
	}
	return err
}

// session calls do with the session that the arguments name.
func (a *auditing) session(cmd *cobra.Command, args []string, do func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error) error {
	return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *auditOutput) error {
		s, err := f.Find(ctx, nameIn(args), a.narrow)
		if err != nil {
			return err
		}
		return do(ctx, f, s, out)
	})
}

// nameIn returns the SESSION of the arguments, "" if it was left out.
func nameIn(args []string) string {
	if len(args) < 2 {
		return ""
	}
	return args[1]
}

// overview is the command without a subcommand: it lists, or shows a session at a glance.
func (a *auditing) overview(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return a.list(cmd, args)
	}
	return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
		o, err := f.Overview(ctx, s, a.maxSummaries)
		if err != nil {
			return err
		}
		if o.Findings == nil {
			o.Findings = []audit.Finding{} // a list in JSON also where it is empty
		}
		if a.json {
			return out.line(o)
		}
		out.overview(o)
		return nil
	})
}
