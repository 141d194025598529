package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/replay"
)

// rootHelp is the manual's first page.
const rootHelp = `longsession shows what compaction does to long conversations of an ADK agent.

  replay   plays recorded conversations through the real ADK runner, with and without compaction,
           and compares what the model was sent
  audit    reads a session file of package persistence, without writing to it

Exit codes:
  0    fine
  1    findings: something that must not be, such as a tool call that lost its result
  2    bad usage or bad input; the message says what to do
  3    something failed midway, or a part of the input was left out
  130  interrupted`

// Run runs the command and returns its exit code. args are those behind the program's name. Reports go
// to stdout; errors and progress to stderr. It returns soon after ctx ends, with nothing half-written.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, rootCommand(replay.Compare), args, stdin, stdout, stderr)
}

// withLongFlags takes -json for --json, as Go's own commands write it. A value of that text is written after
// an equals sign, or behind "--".
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

	// What goes wrong before a command runs is about how it was called.
	started := false
	eachCommand(root, func(c *cobra.Command) {
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				started = true
				return run(c, args)
			}
		}
	})
	ctx, unwritten := withHelpFailure(ctx)
	called, err := root.ExecuteContextC(ctx)
	if err == nil && *unwritten != nil {
		started, err = true, *unwritten
	}
	if err == nil {
		return exitOK
	}
	if !started && !unwritable(err) {
		text := unknownCommand(called, err.Error())
		complain(stderr, fmt.Sprintf("%s; see '%s --help'", printable(text), called.CommandPath()))
		return exitUsage
	}
	complain(stderr, errorLine(err))
	return exitCode(ctx, err)
}

// unwritable reports whether cobra could not write what it writes itself, such as the version.
func unwritable(err error) bool {
	var usage *exitError
	var at *fs.PathError
	return !errors.As(err, &usage) && errors.As(err, &at)
}

// complain writes an error or a warning: one line or, on a terminal, as many as it takes.
func complain(stderr io.Writer, text string) {
	s := screenOf(stderr)
	const who = "longsession:"
	if s.columns > 0 {
		text = strings.Join(wrapped(who+" "+text, s.columns), "\n")
	} else {
		text = who + " " + text
	}
	fmt.Fprintln(stderr, s.bad(who)+strings.TrimPrefix(text, who))
}

func rootCommand(compare compareFunc) *cobra.Command {
	root := &cobra.Command{
		Use:           "longsession",
		Short:         "Show what compaction does to long conversations",
		Long:          rootHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.DisableSuggestions = true // unknownCommand has better ones
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		said, why, number := strings.Cut(err.Error(), ": strconv.")
		switch {
		case number && strings.HasSuffix(why, strconv.ErrRange.Error()):
			return badInput("%s: %s", said, outOfRange)
		case number:
			return badInput("%s: it takes a number", said)
		}
		return unknownFlag(c, err)
	})
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(showHelp)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(replayCommand(compare), auditCommand(), versionCommand())
	root.InitDefaultHelpCmd() // now and not when the command runs, so that execute meets all commands
	root.InitDefaultCompletionCmd()
	eachCommand(root, refuseUnknown)
	return root
}

// refuseUnknown has a command that only has commands of its own fail for one that it has not. Cobra would
// show its help and call that a success. The root is left alone: there it is an error.
func refuseUnknown(c *cobra.Command) {
	if c.Runnable() || !c.HasParent() {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return badInput("unknown command %q for %q%s", args[0], c.CommandPath(), didYouMean(args[0], commandNames(c), ""))
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}
