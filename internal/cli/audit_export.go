package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/internal/audit"
)

func (a *auditing) exportCommand() *cobra.Command {
	var format, file string
	var patterns []string
	cmd := &cobra.Command{
		Use:   "export FILE.db [SESSION]",
		Short: "Write a session to a file, with private things taken out",
		Long:  auditExportHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json && cmd.Flags().Changed("format") && format != audit.JSONL && file == "" {
				return badInput("--json and --format %s: choose one, or give -o", format)
			}
			if !slices.Contains(audit.Formats, format) {
				return badInput("--format %q: choose %s", format, strings.Join(audit.Formats, ", "))
			}
			r, err := audit.NewRedactor(patterns)
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
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this file instead of standard output")
	return cmd
}

// exportTo writes an export to a file, which is whole afterwards or as it was.
func exportTo(ctx context.Context, f *audit.File, s *audit.Session, format string, r *audit.Redactor, file string, out *auditOutput) (err error) {
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
