package auditcmd

import (
	"context"
	"embed"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
	"github.com/adk-go-ext/longsession/compaction"
)

// command holds the flags that all subcommands share. maxSummaries is a flag of only two of them.
type command struct {
	narrow       audit.Narrow
	dsn          string                            // of a database in the place of the file
	lost         map[transfer.Name]transfer.Losses // of what was copied from there
	json         bool
	children     bool // of list
	maxSummaries int
}

// Command returns the audit command with its subcommands.
func Command() *cobra.Command {
	a := &command{maxSummaries: compaction.DefaultConfig().MaxSummaries, lost: map[transfer.Name]transfer.Losses{}}
	cmd := newCommand("audit FILE.db [SESSION]", "Inspect and check a session file: stored events, the model's view, summaries", a.overview)
	cmd.Example = helpText("examples")
	setting.AddPersistent(cmd,
		setting.Setting{Name: "app", Value: setting.Text(&a.narrow.App), Complete: completeSessions(func(s *audit.Session) string { return s.App }),
			Help: "only sessions of this app"},
		setting.Setting{Name: "user", Value: setting.Text(&a.narrow.User), Complete: completeSessions(func(s *audit.Session) string { return s.User }),
			Help: "only sessions of this user"},
		setting.Setting{Name: "dsn", Value: setting.Text(&a.dsn), Help: "read PostgreSQL in the place of FILE: postgres://user@host/name; leave FILE out"},
		setting.Setting{Name: "json", Value: setting.Switch(&a.json), Help: "write JSON Lines; the help of each command lists the fields"})
	a.addMaxSummaries(cmd)
	subs := []*cobra.Command{a.listCommand(), a.historyCommand(), a.contextCommand(), a.compactionsCommand(), a.diffCommand(), a.verifyCommand(), a.sealCommand(), a.exportCommand(), a.resultCommand(), a.cutsCommand(), a.costsCommand(), a.activityCommand()}
	cmd.AddCommand(subs...)
	for _, c := range append(subs, cmd) {
		onDatabase(a, c)
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = a.completeArgs
		}
	}
	return cmd
}

//go:embed help
var helpTexts embed.FS

// helpText returns the text of a file in the folder help.
func helpText(name string) string {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// newCommand returns a command that takes a FILE and a SESSION. Its help has the name of the command.
func newCommand(use, short string, run func(*cobra.Command, []string) error) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	return &cobra.Command{Use: use, Short: short, Long: helpText(name), Args: checkArgs, RunE: run}
}

// addMaxSummaries adds the flag of the commands that check sessions.
func (a *command) addMaxSummaries(cmd *cobra.Command) {
	setting.Add(cmd, setting.Setting{Name: "max-summaries", Value: setting.Int(&a.maxSummaries, 1, setting.NoLimit, ""),
		Help: "summaries that a branch may show (the MaxSummaries of the app)"})
}

// checkArgs refuses anything but a FILE and an optional SESSION. Since the audit command takes a FILE
// itself, cobra takes a mistyped subcommand for a file: "audit verfy sessions.db" has the FILE verfy.
func checkArgs(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 0 && c.HasSubCommands() && meantCommand(c, args[0]) != "":
		return exit.Usage("audit has no command %q%s, and there is no file of that name", args[0], meantCommand(c, args[0]))
	case len(args) == 0:
		return exit.Usage("no FILE given: name a session file, such as sessions.db")
	case len(args) > 2:
		return exit.Usage("%d arguments: give a FILE and at most one SESSION (quote names with spaces)", len(args))
	}
	return nil
}

// meantCommand suggests a subcommand if the name of a missing file looks like one.
func meantCommand(c *cobra.Command, file string) string {
	if strings.ContainsAny(file, `./\`) {
		return ""
	}
	if _, err := os.Lstat(file); err == nil {
		return ""
	}
	if file == "help" {
		return " (did you mean --help?)"
	}
	return suggest.DidYouMean(file, suggest.Commands(c), "")
}

// open opens the file for do. A file that cannot be opened and a session that does not exist are
// errors of usage. Whatever do has written is flushed even after an error, so an interrupted command
// shows what it has found so far.
func (a *command) open(cmd *cobra.Command, args []string, do func(ctx context.Context, f *audit.File, out *output) error) (err error) {
	ctx := cmd.Context()
	f, err := audit.Open(args[0])
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if missing := f.Incomplete(); missing != nil && cmd.Name() != "verify" { // verify reports a finding
		terminal.Complain(cmd.ErrOrStderr(), terminal.Printable(args[0])+": "+terminal.Printable(missing.Error()))
	}
	out := newOutput(cmd.OutOrStdout(), a.json)
	err = do(ctx, f, out)
	if flushed := out.flush(); flushed != nil && !errors.Is(err, flushed) {
		err = errors.Join(err, flushed)
	}
	var which *audit.ErrWhich
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted(out.done())
	case errors.As(err, &which):
		return exit.Usage("%s: %w", args[0], err)
	}
	return err
}

// onSession returns the run of a command that opens the file and finds the session that the
// arguments name.
func (a *command) onSession(do func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
			s, err := f.Find(ctx, sessionArg(args), a.narrow)
			if err != nil {
				return err
			}
			return do(ctx, f, s, out)
		})
	}
}

// sessionArg returns the SESSION argument, or "" if there is none.
func sessionArg(args []string) string {
	if len(args) < 2 {
		return ""
	}
	return args[1]
}

// overview is the command without a subcommand: it lists the sessions, or sums one up.
func (a *command) overview(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return a.list(cmd, args)
	}
	return a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		o, err := f.Overview(ctx, s, a.maxSummaries)
		if err != nil {
			return err
		}
		named, err := names(ctx, f, s, out)
		if err != nil {
			return err
		}
		return writeAll(out, []*audit.Overview{o}, func(o *audit.Overview) {
			if o.Newest != nil {
				named.Compaction(o.Newest)
			}
			out.overview(o)
		})
	})(cmd, args)
}
