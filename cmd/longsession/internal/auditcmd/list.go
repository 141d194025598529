package auditcmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
)

func (a *command) listCommand() *cobra.Command {
	cmd := newCommand("list FILE.db", "List the sessions", a.list)
	setting.Add(cmd, setting.Setting{Name: "children", Value: setting.Switch(&a.children), Help: "list the sessions of subtasks too, each below its parent; JSON always has them"})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exit.Usage("%d arguments: list takes a FILE; use --app and --user to narrow the list", len(args))
		}
		return checkArgs(cmd, args)
	}
	return cmd
}

// listed is a session of the list.
type listed struct {
	*audit.Session
	audit.Size
	// Subtasks counts the sessions of its subtasks, and of theirs.
	Subtasks int    `json:"subtasks,omitempty"`
	Error    string `json:"error,omitempty"`
}

// list writes the sessions. JSON appears line by line; the table needs all rows for its widths. If the
// user interrupts it, list shows the rows read so far. A session that cannot be read gets a row with
// question marks and makes the exit code 3; one that was deleted meanwhile is only counted.
func (a *command) list(cmd *cobra.Command, args []string) error {
	return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
		sessions, err := f.Sessions(ctx, a.narrow)
		if err != nil {
			return err
		}
		if len(sessions) == 0 && a.narrow != (audit.Narrow{}) {
			return exit.Usage("the file has no session%s", a.narrow)
		}
		p := newProgress(cmd.ErrOrStderr(), sessions)
		defer p.Finish()
		var all []*listed
		unreadable, gone := 0, 0
		out.done = func() string { return p.share("read") }
		for _, s := range families(sessions) {
			now, size, err := f.Size(ctx, s)
			one := &listed{Session: now, Size: size, Subtasks: len(s.Family()) - 1}
			switch {
			case ctx.Err() != nil:
				p.Finish()
				if len(all) > 0 {
					out.list(all, a.children)
				}
				return ctx.Err()
			case errors.Is(err, persistence.ErrWritten):
				return err
			case adk.IsNotFound(err): // deleted since the list was read
				p.finished(s)
				gone++
				continue
			case err != nil:
				unreadable++
				one.Session, one.Error = s, err.Error()
			}
			p.finished(s)
			if !a.json {
				all = append(all, one)
			} else if err := out.line(one); err != nil {
				return err
			}
		}
		p.Finish()
		if !a.json {
			out.list(all, a.children)
			if gone > 0 {
				out.printf("%s deleted meanwhile\n", terminal.Plural(gone, "session"))
			}
		}
		if unreadable > 0 {
			return exit.Failed("%s cannot be read: see 'longsession audit verify'", terminal.Plural(unreadable, "session"))
		}
		return nil
	})
}

// families returns the sessions with those of subtasks behind their parents.
func families(sessions []*audit.Session) []*audit.Session {
	var ordered []*audit.Session
	for _, head := range audit.Heads(sessions) {
		ordered = append(ordered, head.Family()...)
	}
	return ordered
}

// progress shows how many events were read, and counts the sessions.
type progress struct {
	*terminal.Progress
	sessions, done int
}

func newProgress(w io.Writer, sessions []*audit.Session) *progress {
	total := int64(0)
	for _, s := range sessions {
		total += s.Events
	}
	return &progress{terminal.NewProgress(w, total), len(sessions), 0}
}

// finished counts a session that was read.
func (p *progress) finished(s *audit.Session) { p.add(s.Events) }

// add counts a session with this many events.
func (p *progress) add(events int64) {
	p.done++
	p.Advance(events, func() string { return "events read" })
}

// share is for the message of an interrupt: "3 of 5 sessions read".
func (p *progress) share(verb string) string {
	return terminal.Commas(p.done) + " of " + terminal.Plural(p.sessions, "session") + " " + verb
}

// list writes the table, and below it the reason for each row with question marks. Without children,
// the session of a subtask has no row of its own: that of its parent counts it.
func (o *output) list(sessions []*listed, children bool) {
	if len(sessions) == 0 {
		o.printf("no sessions\n")
		return
	}
	var shown []*listed
	for _, s := range sessions {
		if children || s.Parent == "" || s.Orphan() {
			shown = append(shown, s)
		}
	}
	o.raw(sessionTable(o.screen, shown))
	for _, s := range sessions {
		if l := s.Ledger; l != nil && l.Stopped != nil {
			o.printf("%s is stopped: %s\n", terminal.Printable(s.Name()), terminal.Printable(l.Stopped.String()))
		}
		if s.Error != "" {
			o.printf("%s cannot be read: %s\n", terminal.Printable(s.Name()), terminal.Printable(s.Error))
		}
	}
}

// overview sums a session up in a few lines, each with a label. A question mark takes the place of what
// could not be worked out because the view could not be made.
func (o *output) overview(v *audit.Overview) {
	stored, records := terminal.Plural(v.Events, "event"), terminal.Commas(v.Session.Compactions)
	o.printf("session      %s\n", terminal.Printable(v.Name()))
	if v.Parent != "" {
		o.labeled("subtask", subtaskText(v.Session))
	}
	o.printf("created      %s, last updated %s\n", moment(v.Created), moment(v.Updated))
	if v.Error != "" {
		o.printf("stored       %s, %s of them records, in ? turns; ? tokens\n", stored, records)
		o.printf("model sees   ?\n")
	} else {
		o.printf("stored       %s, %s of them records, in %s; %s tokens\n", stored, records, terminal.Plural(v.Turns, "turn"), terminal.Commas(v.AllTokens))
		o.printf("model sees   %s, %s of them summaries; %s tokens\n", terminal.Plural(v.ViewEvents, "event"), terminal.Commas(v.Summaries), terminal.Commas(v.ViewTokens))
	}
	o.labeled("compactions", v.Made.Figure())
	if v.Contested {
		o.printf("contested    its records conflict, for example because two processes compacted it at once; an app loads all of it\n")
	}
	if n := len(v.Family()) - 1; n > 0 {
		o.labeled("subtasks", fmt.Sprintf("%s, in sessions of their own: see 'longsession audit list --children'", terminal.Plural(n, "subtask")))
	}
	if l := v.Ledger; l != nil {
		o.labeled("spent", spentText(l.Total)+", by the guard's totals")
		if l.Stopped != nil {
			o.labeled("stopped", terminal.Printable(l.Stopped.String())+"; the next run is refused until a reset, or until the limit is raised")
		}
	}
	if v.Checkpoints+v.Pending > 0 {
		text := terminal.Commas(v.Checkpoints)
		if v.Pending > 0 {
			text += fmt.Sprintf(", and %s for one that is not written yet", terminal.Plural(v.Pending, "call"))
		}
		o.labeled("checkpoints", text)
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
		o.printf("verify       no findings in this session\n")
	default:
		o.printf("verify       %s, the first is %s; see 'longsession audit verify'\n", terminal.Plural(n, "finding"), findingText(v.Findings[0]))
	}
}

// subtaskText names the call that a subtask works for, and the session of that call.
func subtaskText(s *audit.Session) string {
	text := fmt.Sprintf("for the call %s of %s", terminal.Printable(s.Call), terminal.Printable(s.Parent))
	if s.Orphan() {
		text += ", which is not in the file"
	}
	return text
}
