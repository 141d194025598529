package recallcmd

import (
	"context"
	_ "embed" // of the help
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

//go:embed help/recall.txt
var helpText string

const (
	defaultLimit  = 8 // that of package recall
	defaultAround = 1
	mostHits      = 1_000
	mostAround    = 100
)

// command holds the flags.
type command struct {
	narrow        audit.Narrow
	limit, around int
	from, to      time.Time
	whole, json   bool
	events        bool // read them, whatever the index has
	verbose       bool
}

// Command returns the recall command.
func Command() *cobra.Command {
	r := &command{limit: defaultLimit, around: defaultAround}
	cmd := &cobra.Command{
		Use: "recall FILE.db SESSION QUERY...", Short: "Search a session file for what was said", Long: helpText, Args: checkArgs, RunE: r.run,
		Example: "  longsession recall sessions.db order-1 which address did she give\n" +
			"  longsession recall sessions.db order-1 refund --from 2026-03-01 --to 2026-03-31\n" +
			"  longsession recall sessions.db shop/ada/order-1 invoice number --limit 3 --around 0 --json",
		ValidArgsFunction: r.completeArgs,
	}
	setting.Add(cmd,
		setting.Setting{Name: "app", Value: setting.Text(&r.narrow.App), Complete: completeSessions(func(s *audit.Session) string { return s.App }), Help: "only sessions of this app"},
		setting.Setting{Name: "user", Value: setting.Text(&r.narrow.User), Complete: completeSessions(func(s *audit.Session) string { return s.User }), Help: "only sessions of this user"},
		setting.Setting{Name: "limit", Value: setting.Int(&r.limit, 1, mostHits, ""), Help: "events to find at most"},
		setting.Setting{Name: "around", Value: setting.Int(&r.around, 0, mostAround, "shows none"), Help: "neighbors to show before and after each of them"},
		setting.Setting{Name: "from", Value: moment(&r.from, false), Help: "only events from this day or time on (2026-03-01, or 2026-03-01T14:05:00Z)"},
		setting.Setting{Name: "to", Value: moment(&r.to, true), Help: "only events up to this day or time"},
		setting.Setting{Name: "whole", Value: setting.Switch(&r.whole), Help: "do not cut long texts"},
		setting.Setting{Name: "no-index", Value: setting.Switch(&r.events), Help: "read all events, also if the file has an index of their words"},
		setting.Setting{Name: "verbose", Short: "v", Value: setting.Switch(&r.verbose), Help: "say on standard error how the events were searched"},
		setting.Setting{Name: "json", Value: setting.Switch(&r.json), Help: "write JSON Lines; the help above lists the fields"})
	return cmd
}

// moment is a day or a time. As an end, a day is its last nanosecond. Days are those of UTC, as times are shown.
func moment(to *time.Time, end bool) setting.Value {
	text := ""
	return setting.New(func() string { return text }, func(typed string) error {
		day, err := time.Parse(time.DateOnly, typed)
		if err == nil && end {
			day = day.AddDate(0, 0, 1).Add(-time.Nanosecond)
		}
		if err != nil {
			if day, err = time.Parse(time.RFC3339Nano, typed); err != nil {
				return &setting.Refused{Value: terminal.Printable(typed), Reason: "it takes a day such as 2026-03-01, or a time such as 2026-03-01T14:05:00Z"}
			}
		}
		*to, text = day, typed
		return nil
	})
}

func checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Usage("no FILE given: name a session file, such as sessions.db, a SESSION and what to look for")
	case len(args) == 1:
		return exit.Usage("no SESSION given: 'longsession audit list FILE' lists them")
	case strings.TrimSpace(strings.Join(args[2:], " ")) == "":
		return exit.Usage("no QUERY given: write what to look for behind the SESSION")
	}
	return nil
}

func (r *command) run(cmd *cobra.Command, args []string) (err error) {
	ctx := cmd.Context()
	if !r.from.IsZero() && !r.to.IsZero() && r.from.After(r.to) {
		return exit.Usage("--from is after --to: no event is between them")
	}
	f, err := audit.Open(args[0])
	if err != nil {
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if missing := f.Incomplete(); missing != nil {
		terminal.Complain(cmd.ErrOrStderr(), terminal.Printable(args[0])+": "+terminal.Printable(missing.Error()))
	}
	err = r.search(ctx, cmd, f, args)
	var which *audit.ErrWhich
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("nothing was shown")
	case errors.As(err, &which):
		return exit.Usage("%s: %w", args[0], err)
	}
	return err
}

func (r *command) search(ctx context.Context, cmd *cobra.Command, f *audit.File, args []string) error {
	s, err := f.Find(ctx, args[1], r.narrow)
	if err != nil {
		return err
	}
	query := strings.Join(args[2:], " ")
	searched, err := audit.Search(ctx, f, s, index.Query{Text: query, From: r.from, To: r.to, Limit: r.limit, Around: r.around}, r.events)
	if err != nil {
		return err
	}
	if r.verbose {
		how := "searched by the index of words in the file"
		if searched.By == audit.ByEvents {
			how = "read all events: " + searched.Why
		}
		terminal.Complain(cmd.ErrOrStderr(), how)
	}
	found := searched.Passages
	out := newOutput(cmd.OutOrStdout(), query, r.whole)
	if r.json {
		err = out.objects(found)
	} else {
		err = out.passages(found)
	}
	if err != nil {
		return err
	}
	if searched.Unreadable > 0 {
		return exit.Failed("%s cannot be read, and may have what is looked for: see 'longsession audit verify'", terminal.Plural(searched.Unreadable, "event"))
	}
	return nil
}

// completeArgs completes FILE, and SESSION from that file. A query is the user's own.
func (r *command) completeArgs(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return suggest.SessionFiles, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		return r.sessionNames(c.Context(), args[0], typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// sessionNames returns the ID of each session, or its full name if the ID is not unique or a slash was typed.
func (r *command) sessionNames(ctx context.Context, file, typed string) []string {
	sessions := sessionsOf(ctx, file, r.narrow)
	times := map[string]int{}
	for _, s := range sessions {
		times[s.ID]++
	}
	var offered []string
	for _, s := range sessions {
		for _, name := range []string{s.ID, s.Name()} {
			if unique := name != s.ID || times[s.ID] == 1; unique && suggest.Fits(name, typed) {
				offered = append(offered, cobra.CompletionWithDesc(name, terminal.Plural(s.Events, "event")))
				break
			}
		}
	}
	return offered
}

// sessionsOf returns nothing for a file that cannot be read: a shell cannot show an error.
func sessionsOf(ctx context.Context, file string, narrow audit.Narrow) []*audit.Session {
	f, err := audit.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	sessions, _ := f.Sessions(ctx, narrow)
	return sessions
}

// completeSessions offers a value of each session in the given file, once.
func completeSessions(value func(*audit.Session) string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		seen := map[string]bool{}
		var offered []string
		for _, s := range sessionsOf(c.Context(), args[0], audit.Narrow{}) {
			if v := value(s); suggest.Fits(v, typed) && !seen[v] {
				seen[v] = true
				offered = append(offered, v)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}
