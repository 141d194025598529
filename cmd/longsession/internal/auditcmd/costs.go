package auditcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/tokens"
)

// costFlags are the flags of costs.
type costFlags struct {
	model, as string
	price     tokens.Model // prices only
	turns     int
}

// costsCommand shows what sessions cost. Without a SESSION it shows all that are not folded under
// another one.
func (a *command) costsCommand() *cobra.Command {
	c := &costFlags{turns: 3}
	cmd := newCommand("costs FILE.db [SESSION]", "Show what sessions cost: by model, agent and turn, with their subtasks", func(cmd *cobra.Command, args []string) error {
		prices, err := c.prices()
		if err != nil {
			return err
		}
		return a.open(cmd, args, func(ctx context.Context, f *audit.File, out *output) error {
			sessions, err := a.chosen(ctx, f, sessionArg(args))
			if err != nil {
				return err
			}
			if sessionArg(args) == "" {
				sessions = audit.Heads(sessions)
			}
			p := newProgress(cmd.ErrOrStderr(), sessions)
			defer p.Finish()
			out.done = func() string { return p.share("shown") }
			return showCosts(ctx, f, sessions, prices, c.turns, out, p)
		})
	})
	setting.Add(cmd,
		setting.Setting{Name: "model", Value: setting.Text(&c.model), Complete: setting.OneOf(pricing.Models...),
			Help: "the model of calls whose events do not name one"},
		setting.Setting{Name: "price", Value: pricing.Value(&c.price), Help: "prices of --model in USD per million tokens: 'input=3,cached=0.3,output=15'"},
		setting.Setting{Name: "price-as", Value: setting.Text(&c.as), Complete: setting.OneOf(pricing.Models...),
			Help: "the model whose prices apply to models without prices"},
		setting.Setting{Name: "turns", Value: setting.Int(&c.turns, 0, setting.NoLimit, "shows none"), Help: "show this many of the dearest turns"})
	return cmd
}

// prices checks the flags about prices.
func (c *costFlags) prices() (audit.Prices, error) {
	p, err := audit.NewPrices(c.model, c.price, c.as)
	if err != nil {
		return p, exit.Usage("%w", err)
	}
	return p, nil
}

// showCosts writes the costs of each session and, for people, the sum over several.
func showCosts(ctx context.Context, f *audit.File, sessions []*audit.Session, prices audit.Prices, turns int, out *output, p *progress) error {
	var sum audit.Spent
	unreadable := 0
	for i, s := range sessions {
		c, err := prices.Costs(ctx, f, s, turns)
		if err != nil {
			return err
		}
		sum = sum.Add(c.Total)
		unreadable += c.AllUnreadable()
		if i > 0 && out.json == nil {
			out.raw("\n")
		}
		if err := writeAll(out, []*audit.Costs{c}, out.costs); err != nil {
			return err
		}
		p.finished(s)
	}
	p.Finish()
	if len(sessions) == 0 && out.json == nil {
		out.printf("no sessions\n")
	}
	if len(sessions) > 1 && out.json == nil {
		out.printf("\n")
		out.labeled("in total", spentText(sum))
	}
	if unreadable > 0 {
		return exit.Failed("%s cannot be read and may have cost more: see 'longsession audit verify'", terminal.Plural(unreadable, "event"))
	}
	return nil
}

// costs writes what a session cost.
func (o *output) costs(c *audit.Costs) {
	o.labeled("session", terminal.Printable(c.Name()))
	if c.Parent != "" {
		o.labeled("subtask", subtaskText(c.Session))
	}
	o.labeled("spent", spentText(c.Total))
	var lines []string
	for _, m := range c.Models {
		lines = append(lines, pricedName(m.Priced)+": "+spentText(m.Spent))
	}
	o.labeled("models", lines...)
	lines = nil
	for _, a := range c.Agents {
		lines = append(lines, terminal.Printable(a.Agent)+": "+spentText(a.Spent))
	}
	o.labeled("agents", lines...)
	if len(c.Tasks) > 0 {
		lines = []string{terminal.Commas(len(c.Tasks)) + ": " + spentText(c.Subtasks)}
		for _, t := range c.Tasks {
			lines = append(lines, terminal.Printable(t.ID)+": "+spentText(t.Total))
		}
		o.labeled("subtasks", lines...)
	}
	for _, of := range []struct {
		label string
		spent audit.Spent
	}{{"summaries", c.Summaries}, {"checkpoints", c.Checkpoints}} {
		if of.spent.Calls > 0 {
			o.labeled(of.label, spentText(of.spent))
		}
	}
	lines = nil
	for _, t := range c.Turns {
		lines = append(lines, fmt.Sprintf("#%d  %s  %s: %s", t.Seq, moment(t.Time), terminal.Printable(t.InvocationID), spentText(t.Spent)))
	}
	o.labeled("dear turns", lines...)
	if l := c.Ledger; l != nil {
		lines = []string{spentText(l.Total)}
		if c.Difference != "" {
			lines = append(lines, terminal.Printable(c.Difference))
		}
		o.labeled("guard", lines...)
	}
	o.labeled("stops", stopLines(c.Stops)...)
	if c.Uncounted > 0 {
		o.labeled("not counted", terminal.Plural(c.Uncounted, "answer")+" without usage: what they cost is in no event")
	}
	if c.Unreadable > 0 {
		o.labeled("unreadable", terminal.Plural(c.Unreadable, "event"))
	}
}

// stopLines are the bounds that were reached, and the resets.
func stopLines(stops []audit.StopEvent) []string {
	var lines []string
	for _, s := range stops {
		text := "reset: " + s.Reset
		if s.Stop != nil {
			text = s.Stop.String()
		}
		lines = append(lines, fmt.Sprintf("#%d  %s  %s", s.Seq, moment(s.Time), terminal.Printable(text)))
	}
	return lines
}

// labeled writes lines behind a label, and nothing if there are none.
func (o *output) labeled(label string, lines ...string) {
	const column = 13
	for _, line := range lines {
		o.printf("%s\n", terminal.Pad(label, column)+line)
		label = ""
	}
}

// pricedName is the name of a model and what was assumed about it.
func pricedName(m audit.Priced) string {
	var notes []string
	if m.Assumed {
		notes = append(notes, "assumed")
	}
	if m.As != "" {
		notes = append(notes, "priced as "+terminal.Printable(m.As))
	}
	name := terminal.Printable(m.Model)
	if name == "" {
		name = "model not named"
	}
	if len(notes) > 0 {
		name += " (" + strings.Join(notes, ", ") + ")"
	}
	return name
}

// spentText is what some calls cost and used. A cost that is not known is never shown as 0.
func spentText(s audit.Spent) string {
	text := fmt.Sprintf("%s, %s tokens in (%s cached), %s out", terminal.Plural(s.Calls, "call"),
		terminal.Commas(s.Usage.PromptTokens), terminal.Commas(s.Usage.CachedTokens), terminal.Commas(s.Usage.OutputTokens))
	return s.Cost() + ", " + text
}
