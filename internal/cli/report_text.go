package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/internal/replay"
)

// textReport writes tables for people, at most 120 columns wide: what was run, a line for each
// conversation, the total, and what there is to say about it.
type textReport struct {
	plan    *plan
	out     io.Writer
	details details
}

func (r *textReport) begin() error {
	if _, err := io.WriteString(r.out, ran(r.plan)+"\n"); err != nil {
		return err
	}
	if r.plan.settings.quiet || r.plan.grid {
		return nil
	}
	_, err := io.WriteString(r.out, tableHead)
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
		text = gridBlock(r.plan, reports)
	} else {
		text = tableRow(reports[0], r.plan.model.Priced())
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
		text = gridTable(r.plan, sum)
	default:
		text = tableTotal(sum, r.plan.model.Priced())
	}
	_, err := io.WriteString(r.out, text+r.details.write(sum))
	return err
}

// ran says what is run.
func ran(p *plan) string {
	text := ""
	for _, l := range ranLines(p) {
		text += labelled(l[0], l[1])
	}
	return text
}

// labelled is a line, or more, that begins with what it is about.
func labelled(what, says string) string { return fmt.Sprintf("%-9s %s\n", what, wrap(says, 10)) }

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
