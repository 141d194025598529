package auditcmd

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/files"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/redact"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/cmd/longsession/transfer"
)

// exportCommand checks the patterns and the destination before it opens the file, so that a mistake
// costs no time. The warning comes after the session was found: a mistyped name needs none.
func (a *command) exportCommand() *cobra.Command {
	var file string
	format := audit.JSONL
	var patterns, presets []string
	children := false
	cmd := newCommand("export FILE.db [SESSION]", "Write a session to a file, without the private data that --redact names", func(cmd *cobra.Command, args []string) error {
		if a.json && cmd.Flags().Changed("format") && format != audit.JSONL && file == "" {
			return exit.Usage("--json and --format %s: choose one, or give -o", format)
		}
		r, err := redact.New(patterns, presets)
		if err != nil {
			return exit.Usage("--redact: %w", err)
		}
		to := files.Output{Flag: "-o", Name: file}
		if file != "" {
			if err := to.CheckApart(args[0]); err != nil {
				return err
			}
		}
		return a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
			if r == nil {
				terminal.Complain(cmd.ErrOrStderr(), "warning: nothing is redacted: the export contains everything that was said, private or not; see --redact and --redact-preset")
			}
			sessions := []*audit.Session{s}
			if children {
				sessions = s.Family()
			}
			if file != "" {
				if err := exportTo(ctx, f, sessions, format, r, to, out); err != nil {
					return err
				}
			} else {
				n := 0
				out.done = func() string { return terminal.Plural(n, "event") + " written, which may not be all" }
				var err error
				if n, err = f.Export(ctx, sessions, format, r, out.to); err != nil {
					return exportError(err)
				}
			}
			return complain(ctx, cmd.ErrOrStderr(), args[0], sessions, a.lost)
		})(cmd, args)
	})
	setting.Add(cmd,
		setting.Setting{Name: "format", Value: setting.Choice(&format, audit.Formats...), Help: "one of " + strings.Join(audit.Formats, ", ")},
		setting.Setting{Name: "children", Value: setting.Switch(&children), Help: "write the sessions of its subtasks too, behind it"},
		setting.Setting{Name: "redact", Value: setting.Texts(&patterns, func(string) error { return nil }), Help: "redact all matches of this Go regular expression (may be repeated)"},
		setting.Setting{Name: "redact-preset", Value: setting.Choices(&presets, redact.Presets...), Help: "redact well-known forms of private data: " + strings.Join(redact.Presets, ", ")},
		setting.Setting{Name: "output", Short: "o", Value: setting.Output(&file, "jsonl", "json", "md"), Help: "write to this file instead of standard output (-)"})
	return cmd
}

// complain says what an export lacks, because this version of ADK does not know it: what the file has, and what was lost
// when it was copied.
func complain(ctx context.Context, to io.Writer, path string, sessions []*audit.Session, lost map[transfer.Name]transfer.Losses) error {
	all := transfer.Losses{}
	for _, s := range sessions {
		name := transfer.Name{App: s.App, User: s.User, ID: s.ID}
		unknown, err := transfer.Unknown(ctx, path, name)
		if err != nil {
			return err
		}
		all.Add(unknown)
		all.Add(lost[name])
	}
	for _, what := range slices.Sorted(maps.Keys(all)) {
		terminal.Complain(to, "warning: not kept: "+terminal.Commas(all[what])+" "+terminal.Printable(what))
	}
	return nil
}

// exportTo writes an export to a file, as a whole or not at all.
func exportTo(ctx context.Context, f *audit.File, sessions []*audit.Session, format string, r *redact.Redactor, to files.Output, out *output) error {
	out.done = func() string { return to.Name + " was not written" }
	if err := to.Check(); err != nil {
		return err
	}
	n := 0
	if err := to.Replace(func(w io.Writer) (err error) {
		n, err = f.Export(ctx, sessions, format, r, w)
		return exportError(err)
	}); err != nil {
		return err
	}
	if out.json != nil {
		return out.line(struct {
			File   string `json:"file"`
			Format string `json:"format"`
			Events int    `json:"events"`
		}{to.Name, format, n})
	}
	out.printf("%s written to %s\n", terminal.Plural(n, "event"), terminal.Printable(to.Name))
	return nil
}

// exportError marks a match that cannot be redacted as an error of usage.
func exportError(err error) error {
	if errors.Is(err, audit.ErrRedact) {
		return exit.Usage("--redact: %w", err)
	}
	return err
}
