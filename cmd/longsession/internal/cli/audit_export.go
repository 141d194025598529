package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
)

func (a *auditing) exportCommand() *cobra.Command {
	var format, file string
	var patterns, presets []string
	cmd := &cobra.Command{
		Use:   "export FILE.db [SESSION]",
		Short: "Write a session to a file, and take out what --redact names",
		Long:  auditExportHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && cmd.Flags().Changed("format") && format != audit.JSONL && file == "" {
				return badInput("--json and --format %s: choose one, or give -o", format)
			}
			if !slices.Contains(audit.Formats, format) {
				return badInput("--format %q: choose %s", format, strings.Join(audit.Formats, ", "))
			}
			if i := slices.IndexFunc(presets, func(name string) bool { return !slices.Contains(redact.Presets, name) }); i >= 0 {
				return badInput("--redact-preset %q: choose %s", presets[i], strings.Join(redact.Presets, ", "))
			}
			r, err := redact.New(patterns, presets)
			if err != nil {
				return badInput("--redact: %w", err)
			}
			switch {
			case file == "" && cmd.Flags().Changed("output"):
				return badInput("-o is empty: name a file")
			case file != "" && sameFile(file, args[0]):
				return badInput("-o %s is the session file itself: name another one", file)
			case file != "" && isAny(file, databaseFiles(args[0])):
				return badInput("-o %s belongs to the session file, which may have its newest events there: name another one", file)
			}
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
				if r == nil {
					complain(cmd.ErrOrStderr(), "warning: nothing is taken out: the export holds all that was said, private or not; see --redact and --redact-preset")
				}
				if file == "" {
					n := 0
					out.did = func() string { return plural(n, "event") + " written, which may not be all" }
					var err error
					n, err = f.Export(ctx, s, format, r, out.to)
					return exportError(err)
				}
				return exportTo(ctx, f, s, format, r, file, out)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", audit.JSONL, "one of "+strings.Join(audit.Formats, ", "))
	cmd.Flags().StringArrayVar(&patterns, "redact", nil, "take out what this Go regular expression matches (may be repeated)")
	cmd.Flags().StringSliceVar(&presets, "redact-preset", nil, "take out what is known by its form: "+strings.Join(redact.Presets, ", "))
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of standard output")
	// A fixed list cannot fail to be registered but for a flag that is not there.
	_ = cmd.RegisterFlagCompletionFunc("redact-preset", cobra.FixedCompletions(redact.Presets, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// exportTo writes an export to a file, which is whole afterwards or as it was.
func exportTo(ctx context.Context, f *audit.File, s *audit.Session, format string, r *redact.Redactor, file string, out *auditOutput) (err error) {
	out.did = func() string { return file + " was not written" }
	if _, err := destination("-o", file); err != nil {
		return err
	}
	if err := replaceable("-o", file); err != nil {
		return err
	}
	pending, err := pendingFile("-o", file, renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pending.Cleanup()) }()
	n, err := f.Export(ctx, s, format, r, pending)
	if err != nil {
		return exportError(err)
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return failed("-o %s: %w: nothing was written", file, err)
	}
	if out.json != nil {
		return out.line(struct {
			File   string `json:"file"`
			Format string `json:"format"`
			Events int    `json:"events"`
		}{file, format, n})
	}
	out.printf("%s written to %s\n", plural(n, "event"), printable(file))
	return nil
}

// exportError tells a pattern that cannot be taken out from other failures.
func exportError(err error) error {
	if errors.Is(err, audit.ErrRedact) {
		return badInput("--redact: %w", err)
	}
	return err
}
