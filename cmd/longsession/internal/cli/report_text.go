package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/replay"
)

// textReport writes tables for people, or lines of "name: value" where the screen is too narrow for them:
// what was run, a line for each conversation, the total, a sentence that sums it up, and the details.
type textReport struct {
	plan    *plan
	screen  screen
	out     io.Writer
	rows    replayRows
	details details
}

func newTextReport(p *plan, s screen, out io.Writer) *textReport {
	return &textReport{plan: p, screen: s, out: out, rows: newReplayRows(s, p.model.Priced())}
}

func (r *textReport) begin() error {
	text := ran(r.plan, r.screen) + "\n"
	if !r.plan.grid {
		text += r.rows.head()
	}
	_, err := io.WriteString(r.out, text)
	return err
}

func (r *textReport) played(reports []*replay.Report) error {
	for i, one := range reports {
		if i == 0 {
			r.details.addConversation(one)
		}
		r.details.add(one, r.plan.policies[i].bare, r.plan.grid)
	}
	if r.plan.settings.quiet {
		return nil
	}
	text := ""
	if r.plan.grid {
		text = gridBlock(r.screen, r.plan, reports)
	} else {
		text = r.rows.report(reports[0])
	}
	_, err := io.WriteString(r.out, text)
	return err
}

func (r *textReport) leftOut(err error) error {
	r.details.leftOut.add(printable(err.Error()))
	return nil
}

func (r *textReport) end(sum *summary) error {
	text := ""
	switch {
	case sum.conversations() == 0:
		text = "no conversation was played\n"
	case r.plan.grid:
		text = gridTable(r.screen, r.plan, sum)
	default:
		text = r.rows.total(sum)
	}
	if says := conclusion(r.plan, sum); says != "" {
		text += "\n" + r.screen.strong(r.screen.wrap(says, 0)) + "\n"
	}
	_, err := io.WriteString(r.out, text+r.details.write(r.screen, sum))
	return err
}

// ran says what is run.
func ran(p *plan, s screen) string {
	text := ""
	for _, l := range ranLines(p) {
		text += s.labelled(l[0], l[1])
	}
	return text
}

// maxLeftOut is how many combinations of a grid that contradict themselves are named.
const maxLeftOut = 10

// ranLines says what is run, as pairs of what and which.
func ranLines(p *plan) [][2]string {
	lines := [][2]string{{"policy", p.says}}
	if p.grid {
		lines[0][1] += "; but for what the grid varies"
		lines = append(lines, [2]string{"grid", plural(len(p.policies), "combination") + " of " + strings.Join(strings.Fields(p.settings.grid), " ")})
	}
	for i, text := range p.leftOut {
		if i == maxLeftOut {
			lines = append(lines, [2]string{"", fmt.Sprintf("… and %d more (--json has all)", len(p.leftOut)-i)})
			break
		}
		what := "left out"
		if i > 0 {
			what = ""
		}
		lines = append(lines, [2]string{what, text})
	}
	lines = append(lines,
		[2]string{"window", windows(p)},
		[2]string{"prices", describePrices(p.model)},
		[2]string{"counts", countsAs(p.settings.fixed)})
	return lines
}

func windows(p *plan) string {
	for _, policy := range p.policies {
		if policy.window != p.window {
			return "as in the grid"
		}
	}
	return commas(p.window) + " tokens"
}

// countsAs says how prompts are counted.
func countsAs(fixed string) string {
	text := "the provider's where recorded and nothing is hidden, else estimates at that scale; "
	switch fixed {
	case "auto":
		return text + "instructions and tools as the counts tell"
	case "recorded":
		return text + "instructions and tools as the counts tell, however many"
	}
	return text + fixed + " tokens of instructions and tools"
}
