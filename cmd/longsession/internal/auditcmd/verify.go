package auditcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

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

// verify compares with a seal first, because what differs from it says best what happened, and then writes the findings
// about the file and about each session as soon as that was checked, and a line about what was checked.
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
		r := &reported{out: out, sealed: map[[3]string][]audit.Finding{}}
		out.done = func() string { return p.share("checked") + ", " + terminal.Plural(r.findings, "finding") }
		compared, err := seal.compare(ctx, f, a.which(args), func(found audit.Finding) error {
			r.sealed[sessionOf(found)] = append(r.sealed[sessionOf(found)], found)
			return nil
		})
		if err != nil {
			return err
		}
		if err := r.withoutSession(sessions); err != nil {
			return err
		}
		checked, err := f.Verify(ctx, sessions, a.maxSummaries, r.collect, func(s *audit.Session) { r.checked(s); p.finished(s) })
		if err = errors.Join(err, r.err); err != nil {
			return errors.Join(r.write(nil), err)
		}
		p.Finish()
		if err := r.write(nil); err != nil {
			return err
		}
		checked.Findings = r.findings
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

// reported writes findings by their causes, and counts them. Those of a session are written once it was checked.
type reported struct {
	out      *output
	sealed   map[[3]string][]audit.Finding // differences from a seal that were not written yet
	pending  []audit.Finding
	findings int
	err      error // of the first write that failed, or a finding that came after it
}

func sessionOf(f audit.Finding) [3]string { return [3]string{f.App, f.User, f.Session} }

// withoutSession writes the differences from a seal that are about no session that is in the file.
func (r *reported) withoutSession(sessions []*audit.Session) error {
	there := map[[3]string]bool{}
	for _, s := range sessions {
		there[[3]string{s.App, s.User, s.ID}] = true
	}
	for _, of := range slices.SortedFunc(maps.Keys(r.sealed), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if there[of] {
			continue
		}
		found := r.sealed[of]
		delete(r.sealed, of)
		if err := r.write(found); err != nil {
			return err
		}
	}
	return nil
}

func (r *reported) collect(found audit.Finding) error {
	if len(r.pending) > 0 && sessionOf(r.pending[0]) != sessionOf(found) {
		if err := r.write(nil); err != nil {
			return err
		}
	}
	r.pending = append(r.pending, found)
	return nil
}

// checked writes the findings about a session.
func (r *reported) checked(s *audit.Session) {
	of := [3]string{s.App, s.User, s.ID}
	sealed := r.sealed[of]
	delete(r.sealed, of)
	if len(r.pending) > 0 && sessionOf(r.pending[0]) != of { // about the file itself
		r.err = errors.Join(r.err, r.write(nil))
	}
	r.err = errors.Join(r.err, r.write(sealed))
}

// write writes the pending findings, and the differences from a seal that are about the same session.
func (r *reported) write(sealed []audit.Finding) error {
	found := r.pending
	r.pending = nil
	for _, one := range audit.Causes(found, sealed) {
		kind := "finding"
		if one.Warning {
			kind = "warning"
		} else {
			r.findings++
		}
		if r.out.json != nil {
			if err := r.out.line(findingLine{kind, one}); err != nil {
				return err
			}
			continue
		}
		if one.Warning {
			r.out.printf("warning: %s\n", findingText(one))
		} else {
			r.out.bad(findingText(one))
		}
		for _, also := range one.Also {
			r.out.printf("    also %s\n", alsoText(also))
		}
	}
	return r.out.err
}

// fine writes what was checked, if there are no findings.
func (o *output) fine(c audit.Checked) {
	if c.Findings == 0 {
		o.good(fmt.Sprintf("fine: %s, %s, %s; checked the chain of digests, the marks, the links, the view (I1 to I5), the schema, and SQLite's own integrity; not checked: state of users and apps",
			terminal.Plural(c.Sessions, "session"), terminal.Plural(c.Events, "event"), c.Made.Phrase()))
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
		where += " " + eventText(f)
	}
	return where + ": " + ruleText(f)
}

// alsoText is findingText for what does not fit besides, in the same session.
func alsoText(f audit.Finding) string {
	if f.Seq > 0 {
		return eventText(f) + ": " + ruleText(f)
	}
	return ruleText(f)
}

// eventText names the event that a finding is about, or the first of several.
func eventText(f audit.Finding) string {
	where := fmt.Sprintf("event %d", f.Seq)
	if f.Event != "" {
		where += fmt.Sprintf(" (%s)", terminal.Printable(f.Event))
	}
	return where
}

// ruleText says which rule is broken, how, and how often.
func ruleText(f audit.Finding) string {
	text := fmt.Sprintf("%s: %s", f.Rule, terminal.Printable(f.Text))
	switch {
	case f.Events > 1:
		text += fmt.Sprintf("; so with %s more, up to event %d", terminal.Plural(f.Events-1, "event"), f.Last)
	case f.More > 0:
		text += fmt.Sprintf("; and %d more of this kind", f.More)
	}
	return text
}
