package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/persistence"
)

func (a *auditing) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list FILE.db",
		Short: "List the sessions",
		Long:  auditListHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return badInput("%d arguments: list takes a FILE; use --app and --user to narrow the list", len(args))
			}
			return auditArgs(cmd, args)
		},
		RunE: a.list,
	}
}

// listed is a session of the list.
type listed struct {
	*audit.Session
	audit.Size
	Error string `json:"error,omitempty"`
}

func (a *auditing) list(cmd *cobra.Command, args []string) error {
	return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *auditOutput) error {
		sessions, err := f.Sessions(ctx, a.narrow)
		if err != nil {
			return err
		}
		if len(sessions) == 0 && a.narrow != (audit.Narrow{}) {
			return badInput("the file has no session%s", a.narrow)
		}
		p := newAuditProgress(cmd.ErrOrStderr(), sessions)
		defer p.finish()
		var all []listed
		unreadable := 0
		read, gone := 0, 0
		out.did = func() string { return shareOf(read, sessions, "read") }
		for _, s := range sessions {
			now, size, err := f.Size(ctx, s)
			one := listed{Session: now, Size: size}
			switch {
			case ctx.Err() != nil:
				p.finish()
				if len(all) > 0 {
					out.list(all)
				}
				return ctx.Err()
			case errors.Is(err, persistence.ErrWritten):
				return err
			case errors.Is(err, session.ErrNotFound): // deleted since the list was read
				p.done(s)
				read++
				gone++
				continue
			case err != nil:
				unreadable++
				one.Session, one.Error = s, err.Error()
			}
			p.done(s)
			read++
			if !a.json {
				all = append(all, one)
			} else if err := out.line(one); err != nil {
				return err
			}
		}
		p.finish()
		if !a.json {
			out.list(all)
			if gone > 0 {
				out.printf("%s deleted meanwhile\n", plural(gone, "session"))
			}
		}
		if unreadable > 0 {
			return failed("%s cannot be read: see 'longsession audit verify'", plural(unreadable, "session"))
		}
		return nil
	})
}

func (o *auditOutput) list(sessions []listed) {
	if len(sessions) == 0 {
		o.printf("no sessions\n")
		return
	}
	t := sessionTable{screen: o.screen}
	for _, s := range sessions {
		t.add(s)
	}
	o.raw(t.String())
	for _, s := range sessions {
		if s.Error != "" {
			o.printf("%s cannot be read: %s\n", printable(s.Name()), printable(s.Error))
		}
	}
}

// shareOf says how many of some sessions were dealt with.
func shareOf(n int, sessions []*audit.Session, how string) string {
	return commas(n) + " of " + plural(len(sessions), "session") + " " + how
}

// overview writes a session at a glance.
func (o *auditOutput) overview(v *audit.Overview) {
	o.printf("session      %s\n", printable(v.Name()))
	o.printf("created      %s, last written to %s\n", moment(v.Created), moment(v.Updated))
	if v.Error != "" {
		o.printf("stored       %s in ? turns, %s of them compactions; ? tokens\n", plural(int(v.Events), "event"), commas(v.Compactions))
		o.printf("model sees   ?\n")
	} else {
		o.printf("stored       %s in %s, %s of them compactions; %s tokens\n", plural(int(v.Events), "event"), plural(v.Turns, "turn"), commas(v.Compactions), commas(v.AllTokens))
		o.printf("model sees   %s, %s of them summaries; %s tokens\n", plural(v.ViewEvents, "event"), commas(v.Summaries), commas(v.ViewTokens))
	}
	if v.Contested {
		o.printf("contested    two processes compacted it at once, or the like: it is loaded whole\n")
	}
	switch {
	case v.Newest != nil:
		o.printf("newest       %s\n             %s\n", compactionTitle(v.Newest), compactionNumbers(v.Newest))
	case v.Error != "":
		o.printf("newest       ?\n")
	default:
		o.printf("newest       no compaction\n")
	}
	switch n := len(v.Findings); n {
	case 0:
		o.printf("verify       nothing found in this session\n")
	default:
		o.printf("verify       %s, the first is %s; see 'longsession audit verify'\n", plural(n, "finding"), findingText(v.Findings[0]))
	}
}
