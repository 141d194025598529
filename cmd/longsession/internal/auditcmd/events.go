package auditcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

func (a *command) historyCommand() *cobra.Command {
	from, limit := 1, 0
	cmd := &cobra.Command{
		Use:   "history FILE.db [SESSION]",
		Short: "Show everything that was stored",
		Long:  auditHistoryHelp,
		Args:  checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
				return history(ctx, f, s, int64(from), limit, out)
			})
		},
	}
	setting.Add(cmd,
		setting.Setting{Name: "from", Value: setting.Int(&from, 0, setting.NoLimit, ""), Help: "number of the first event to show"},
		setting.Setting{Name: "limit", Value: setting.Int(&limit, 0, setting.NoLimit, "shows all"), Help: "show this many events; 0: all"})
	return cmd
}

func history(ctx context.Context, f *audit.File, s *audit.Session, from int64, limit int, out *output) error {
	if limit == 0 {
		limit = -1
	}
	shown := 0
	out.done = func() string { return terminal.Plural(shown, "event") + " shown" }
	for row, err := range f.Rows(ctx, s, from, limit) {
		if err != nil {
			return err
		}
		e := audit.EntryOf(row)
		if out.json != nil {
			err = out.line(e)
		} else {
			out.entry(&e)
			err = out.err
		}
		if err != nil {
			return err
		}
		shown++
	}
	if shown == 0 && out.json == nil {
		out.printf("no events from number %d on: the session has %s\n", from, terminal.Commas(s.Events))
	}
	return nil
}

func (a *command) contextCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "context FILE.db [SESSION]",
		Short: "Show the view: the events and summaries that the next prompt is made of",
		Long:  auditContextHelp,
		Args:  checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
				view, err := f.View(ctx, s)
				if err != nil {
					return err
				}
				tokens := 0
				err = writeAll(out, view, func(e audit.Entry) {
					tokens += e.Tokens
					out.title(entryTitle(&e))
					e.Record = nil // the model sees the framed text and not the record
					for _, b := range audit.Blocks(&e) {
						out.block(b)
					}
				})
				if err == nil && !a.json {
					out.printf("%s, %s tokens\n", terminal.Plural(len(view), "event"), terminal.Commas(tokens))
				}
				return err
			})
		},
	}
}

func (a *command) compactionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compactions FILE.db [SESSION]",
		Short: "Show every compaction record",
		Long:  auditCompactionsHelp,
		Args:  checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
				records, err := f.Compactions(ctx, s)
				if err != nil {
					return err
				}
				if len(records) == 0 && !a.json {
					out.printf("no compactions\n")
				}
				return writeAll(out, records, func(c audit.Compaction) { out.compaction(&c) })
			})
		},
	}
}
