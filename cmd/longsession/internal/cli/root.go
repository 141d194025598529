package cli

import (
	"context"
	_ "embed" // of the help
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/auditcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/configcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/doctorcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/recallcmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/replaycmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/servecmd"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/transfercmd"
	"github.com/adk-go-ext/longsession/replay"
)

//go:embed root.txt
var rootHelp string

// Run runs the command and returns its exit code. args do not include the name of the program.
// Reports go to stdout, errors and progress to stderr. Run returns soon after ctx ends and leaves
// no partial files.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, rootCommand(replay.Compare), args, stdin, stdout, stderr)
}

// withLongFlags replaces -json by --json, since Go's own commands take one dash. It leaves
// arguments behind "--" alone.
func withLongFlags(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg {
		case "--":
			return args
		case "-json":
			args[i] = "--json"
		}
	}
	return args
}

func execute(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SetArgs(withLongFlags(args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)

	// An error before a command runs is an error of usage.
	started := false
	eachCommand(root, func(c *cobra.Command) {
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				started = true
				if c.Annotations[exit.OwnInterrupts] == "" {
					// The first Ctrl-C ends the context, and a second one the process.
					interruptible, stop := signal.NotifyContext(ctx, os.Interrupt)
					defer stop()
					context.AfterFunc(interruptible, stop)
					ctx = interruptible
					c.SetContext(ctx)
				}
				return run(c, args)
			}
		}
	})
	var unwritten error
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { unwritten = showHelp(c) })
	called, err := root.ExecuteContextC(ctx)
	if err == nil && unwritten != nil {
		started, err = true, unwritten
	}
	if err == nil {
		return exit.CodeOK
	}
	if !started && !unwritable(err) {
		text := unknownCommand(called, err.Error())
		terminal.Complain(stderr, fmt.Sprintf("%s; see '%s --help'", terminal.Printable(text), called.CommandPath()))
		return exit.CodeUsage
	}
	terminal.Complain(stderr, exit.Line(err))
	return exit.CodeOf(ctx, err)
}

// unwritable reports whether cobra failed to write its own output, such as the version.
func unwritable(err error) bool {
	var usage *exit.Error
	var at *fs.PathError
	return !errors.As(err, &usage) && errors.As(err, &at)
}

func rootCommand(compare replaycmd.Compare) *cobra.Command {
	root := &cobra.Command{
		Use:           "longsession",
		Short:         "Show the effect of compaction on long conversations",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.DisableSuggestions = true // unknownCommand has better ones
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _ = showHelp(c) }) // execute keeps the error
	root.SetHelpCommand(helpCommand())
	root.AddCommand(chatcmd.Command(), configcmd.Command(), doctorcmd.Command(version()), replaycmd.Command(version(), compare), auditcmd.Command(), recallcmd.Command(), servecmd.Command(), transfercmd.ExportCommand(), transfercmd.ImportCommand(), versionCommand())
	root.InitDefaultHelpCmd() // before execute, which has to see all commands
	root.InitDefaultCompletionCmd()
	eachCommand(root, refuseUnknown)
	return root
}

// refuseUnknown makes a command that only has subcommands fail for an unknown one. Cobra would show
// its help and report success. For the root command cobra fails by itself.
func refuseUnknown(c *cobra.Command) {
	if c.Runnable() || !c.HasParent() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return exit.Usage("unknown command %q for %q%s", args[0], c.CommandPath(), suggest.DidYouMean(args[0], suggest.Commands(c), ""))
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}
