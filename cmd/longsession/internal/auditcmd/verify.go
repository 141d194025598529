package auditcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
)

func (a *command) verifyCommand() *cobra.Command {
	seal := &sealCheck{}
	cmd := newCommand("verify FILE.db [SESSION]", "Check the file, its marks, and the model's view",
		func(cmd *cobra.Command, args []string) error { return a.verify(cmd, args, seal) })
	a.addMaxSummaries(cmd)
	seal.addFlags(cmd)
	return cmd
}

// findingLine is a finding in JSON.
type findingLine struct {
	Type string `json:"type"`
	audit.Finding
}

// checkedLine is the last line in JSON.
type checkedLine struct {
	Type string `json:"type"`
	audit.Checked
	Against *audit.Compared `json:"against,omitempty"`
}

// verify writes each finding as soon as it is known, and then a line about what was checked. The
// comparison with a seal comes last and adds its own findings.
func (a *command) verify(cmd *cobra.Command, args []string, seal *sealCheck) error {
	if err := seal.read(cmd); err != nil {
		return err
	}
	return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
		sessions, err := a.chosen(ctx, f, sessionArg(args))
		if err = seal.allows(ctx, f, a.which(args), err); err != nil {
			return err
		}
		p := newProgress(cmd.ErrOrStderr(), sessions)
		defer p.Finish()
		findings := 0
		out.done = func() string { return p.share("checked") + ", " + terminal.Plural(findings, "finding") }
		report := func(found audit.Finding) error {
			kind := "finding"
			if found.Warning {
				kind = "warning"
			} else {
				findings++
			}
			switch {
			case a.json:
				return out.line(findingLine{kind, found})
			case found.Warning:
				out.printf("warning: %s\n", findingText(found))
			default:
				out.bad(findingText(found))
			}
			return out.err
		}
		checked, err := f.Verify(ctx, sessions, a.maxSummaries, report, p.finished)
		if err != nil {
			return err
		}
		p.Finish()
		compared, err := seal.compare(ctx, f, a.which(args), report)
		if err != nil {
			return err
		}
		if compared != nil {
			checked.Findings += compared.Findings
		}
		if a.json {
			if err := out.line(checkedLine{"checked", checked, compared}); err != nil {
				return err
			}
		} else {
			out.fine(checked)
			if compared != nil {
				seal.show(out, compared)
			}
			out.gaps(checked)
		}
		if checked.Findings > 0 {
			return exit.Findings(checked.Findings)
		}
		return nil
	})
}

// fine writes what was checked, if there are no findings.
func (o *output) fine(c audit.Checked) {
	if c.Findings == 0 {
		o.good(fmt.Sprintf("fine: %s, %s, %s; checked the marks, the links, the view (I1 to I5), the schema, and SQLite's own integrity; not checked: state of users and apps",
			terminal.Plural(c.Sessions, "session"), terminal.Plural(c.Events, "event"), terminal.Plural(c.Records, "compaction")))
	}
}

// gaps writes what could not be checked.
func (o *output) gaps(c audit.Checked) {
	if c.Undigested > 0 {
		o.printf("%s without a digest (from older versions): only a seal can reveal a change there\n", terminal.Plural(c.Undigested, "event"))
	}
	if c.Gone > 0 {
		o.printf("%s deleted meanwhile\n", terminal.Plural(c.Gone, "session"))
	}
}

// chosen returns the named session, or all sessions if name is empty.
func (a *command) chosen(ctx context.Context, f *audit.File, name string) ([]*audit.Session, error) {
	if name == "" {
		all, err := f.Sessions(ctx, a.narrow)
		if err == nil && len(all) == 0 && a.narrow != (audit.Narrow{}) {
			err = exit.Usage("the file has no session%s: nothing was checked", a.narrow)
		}
		return all, err
	}
	s, err := f.Find(ctx, name, a.narrow)
	if err != nil {
		return nil, err
	}
	return []*audit.Session{s}, nil
}

// which returns the sessions that the flags and arguments select.
func (a *command) which(args []string) audit.Which {
	return audit.Which{Narrow: a.narrow, Session: sessionArg(args)}
}

// findingText writes a finding on one line: where, which rule, and what is wrong.
func findingText(f audit.Finding) string {
	where := "the file"
	if f.Session != "" {
		where = terminal.Printable(f.App + "/" + f.User + "/" + f.Session)
	}
	if f.Seq > 0 {
		where += fmt.Sprintf(" event %d", f.Seq)
	}
	if f.Event != "" {
		where += fmt.Sprintf(" (%s)", terminal.Printable(f.Event))
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Rule, terminal.Printable(f.Text))
}
