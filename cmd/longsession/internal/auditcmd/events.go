package auditcmd

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

// historyCommand shows stored events page by page, so that its memory does not grow with the session.
func (a *command) historyCommand() *cobra.Command {
	from, limit := 1, 0
	cmd := newCommand("history FILE.db [SESSION]", "Show everything that was stored", a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		shown := 0
		notes, err := audit.Annotate(ctx, f, s, int64(from))
		if err != nil {
			return err
		}
		named, err := names(ctx, f, s, out)
		if err != nil {
			return err
		}
		out.done = func() string { return terminal.Plural(shown, "event") + " shown" }
		for row, err := range f.Rows(ctx, s, int64(from), cmp.Or(limit, -1)) {
			if err != nil {
				return err
			}
			e := notes.Entry(row)
			if err := writeAll(out, []*audit.Entry{&e}, func(e *audit.Entry) { named.Entry(e); out.entry(e) }); err != nil {
				return err
			}
			shown++
		}
		if shown == 0 && !a.json {
			out.printf("no events from number %d on: the session has %s\n", from, terminal.Commas(s.Events))
		}
		return nil
	}))
	setting.Add(cmd,
		setting.Setting{Name: "from", Value: setting.Int(&from, 0, setting.NoLimit, ""), Help: "number of the first event to show"},
		setting.Setting{Name: "limit", Value: setting.Int(&limit, 0, setting.NoLimit, "shows all"), Help: "show this many events; 0: all"})
	return cmd
}

// compactionsCommand shows all records, those whose summaries are no longer shown included.
func (a *command) compactionsCommand() *cobra.Command {
	return newCommand("compactions FILE.db [SESSION]", "Show every compaction record", a.onSession(func(ctx context.Context, f *audit.File, s *audit.Session, out *output) error {
		records, err := f.Compactions(ctx, s)
		if err != nil {
			return err
		}
		if len(records) == 0 && !a.json {
			out.printf("no compactions\n")
		}
		named, err := names(ctx, f, s, out)
		if err != nil {
			return err
		}
		return writeAll(out, records, func(c audit.Compaction) { named.Compaction(&c); out.compaction(&c) })
	}))
}

// names returns the names of a session's records, for people. JSON has whole IDs.
func names(ctx context.Context, f *audit.File, s *audit.Session, out *output) (*audit.Names, error) {
	if out.json != nil {
		return &audit.Names{}, nil
	}
	return audit.ReadNames(ctx, f, s)
}
