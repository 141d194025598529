package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

func (a *auditing) verifyCommand() *cobra.Command {
	against := &againstSeal{}
	cmd := &cobra.Command{
		Use:   "verify FILE.db [SESSION]",
		Short: "Check the file, the marks and what the model sees",
		Long:  auditVerifyHelp,
		Args:  auditArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return a.verify(cmd, args, against) },
	}
	a.boundFlag(cmd)
	against.flags(cmd)
	return cmd
}

type findingLine struct {
	Type string `json:"type"`
	audit.Finding
}

type checkedLine struct {
	Type string `json:"type"`
	audit.Checked
	Against *audit.Compared `json:"against,omitempty"`
}

func (a *auditing) verify(cmd *cobra.Command, args []string, against *againstSeal) error {
	if err := against.read(cmd); err != nil {
		return err
	}
	return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *auditOutput) error {
		sessions, err := a.chosen(ctx, f, nameIn(args))
		if err = against.allows(ctx, f, a.which(args), err); err != nil {
			return err
		}
		p := newAuditProgress(cmd.ErrOrStderr(), sessions)
		defer p.finish()
		checked, told := 0, 0
		out.did = func() string { return shareOf(checked, sessions, "checked") + ", " + plural(told, "finding") }
		report := func(found audit.Finding) error {
			told++
			if a.json {
				return out.line(findingLine{"finding", found})
			}
			out.finding(findingText(found))
			return out.err
		}
		done, err := f.Verify(ctx, sessions, a.maxSummaries, report, func(s *audit.Session) {
			checked++
			p.done(s)
		})
		if err != nil {
			return err
		}
		p.finish()
		compared, err := against.compare(ctx, f, a.which(args), report)
		if err != nil {
			return err
		}
		if compared != nil {
			done.Findings += compared.Findings
		}
		if a.json {
			err = out.line(checkedLine{"checked", done, compared})
		} else if done.Findings == 0 {
			out.fine(fmt.Sprintf("fine: %s, %s, %s; the marks, the ties, the view (I1 to I5), the schema and SQLite's own checks; state of users and apps is not checked",
				plural(done.Sessions, "session"), plural(int(done.Events), "event"), plural(done.Records, "compaction")))
		}
		if !a.json && compared != nil {
			against.tell(out, compared)
		}
		if !a.json && done.Undigested > 0 {
			out.printf("%s older than digests: only a seal tells a change there\n", plural(int(done.Undigested), "event"))
		}
		if !a.json && done.Gone > 0 {
			out.printf("%s deleted meanwhile\n", plural(done.Gone, "session"))
		}
		if err == nil && done.Findings > 0 {
			err = findings(done.Findings)
		}
		return err
	})
}

// fine writes that nothing was found.
func (o *auditOutput) fine(text string) { o.result(text, o.screen.good) }

// finding writes a finding.
func (o *auditOutput) finding(text string) { o.result(text, o.screen.bad) }

// result writes a line in colour or, on a terminal, as many lines as it takes.
func (o *auditOutput) result(text string, paint func(string) string) {
	if o.screen.columns > 0 {
		text = hanging(text, o.screen.columns)
	}
	o.raw(paint(text) + "\n")
}

// chosen returns the session of a name, or all of them.
func (a *auditing) chosen(ctx context.Context, f *audit.File, name string) ([]*audit.Session, error) {
	if name == "" {
		all, err := f.Sessions(ctx, a.narrow)
		if err == nil && len(all) == 0 && a.narrow != (audit.Narrow{}) {
			err = badInput("the file has no session%s: nothing was checked", a.narrow)
		}
		return all, err
	}
	s, err := f.Find(ctx, name, a.narrow)
	if err != nil {
		return nil, err
	}
	return []*audit.Session{s}, nil
}

// findingText is a finding on one line.
func findingText(f audit.Finding) string {
	where := "the file"
	if f.Session != "" {
		where = printable(f.App + "/" + f.User + "/" + f.Session)
	}
	if f.Seq > 0 {
		where += fmt.Sprintf(" event %d", f.Seq)
	}
	if f.Event != "" {
		where += fmt.Sprintf(" (%s)", printable(f.Event))
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Rule, printable(f.Text))
}
