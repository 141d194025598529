package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

func (a *auditing) historyCommand() *cobra.Command {
	var from int64
	var limit int
	cmd := &cobra.Command{
		Use:   "history FILE.db [SESSION]",
		Short: "Show everything that was stored",
		Long:  auditHistoryHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from < 0 || limit < 0 {
				return badInput("--from %d --limit %d: neither can be negative", from, limit)
			}
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
				return a.history(ctx, f, s, from, limit, out)
			})
		},
	}
	cmd.Flags().Int64Var(&from, "from", 1, "number of the first event to show")
	cmd.Flags().IntVar(&limit, "limit", 0, "show so many events; 0: all")
	return cmd
}

func (a *auditing) history(ctx context.Context, f *audit.File, s *audit.Session, from int64, limit int, out *auditOutput) error {
	if limit == 0 {
		limit = -1
	}
	shown := 0
	out.did = func() string { return plural(shown, "event") + " shown" }
	for row, err := range f.Rows(ctx, s, from, limit) {
		if err != nil {
			return err
		}
		e := audit.EntryOf(row)
		if a.json {
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
	if shown == 0 && !a.json {
		out.printf("no events from number %d on: the session has %s\n", from, commas(int(s.Events)))
	}
	return nil
}

func (a *auditing) contextCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "context FILE.db [SESSION]",
		Short: "Show the view: what a model's prompt would be made of now",
		Long:  auditContextHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
				view, err := f.View(ctx, s)
				if err != nil {
					return err
				}
				tokens := 0
				for i := range view {
					if a.json {
						if err := out.line(&view[i]); err != nil {
							return err
						}
						continue
					}
					seen := view[i]
					tokens += seen.Tokens
					out.title(entryTitle(&seen))
					seen.Record = nil // what the model sees of it is its framed text
					for _, b := range audit.Blocks(&seen) {
						out.block(b)
					}
				}
				if !a.json {
					out.printf("%s, %s tokens\n", plural(len(view), "event"), commas(tokens))
				}
				return nil
			})
		},
	}
}

func (a *auditing) compactionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compactions FILE.db [SESSION]",
		Short: "Show every compaction record",
		Long:  auditCompactionsHelp,
		Args:  auditArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.session(cmd, args, func(ctx context.Context, f *audit.File, s *audit.Session, out *auditOutput) error {
				records, err := f.Compactions(ctx, s)
				if err != nil {
					return err
				}
				for i := range records {
					if a.json {
						if err := out.line(&records[i]); err != nil {
							return err
						}
						continue
					}
					out.compaction(&records[i])
				}
				if len(records) == 0 && !a.json {
					out.printf("no compactions\n")
				}
				return nil
			})
		},
	}
}
