package replaycmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// textReport writes tables for people, or lines of "name: value" on a narrow screen: a header, a
// line for each conversation, the total, a sentence that sums it up, and the details.
type textReport struct {
	plan    *plan
	screen  terminal.Screen
	out     io.Writer
	rows    rows
	details details
}

func newTextReport(p *plan, s terminal.Screen, out io.Writer) *textReport {
	return &textReport{plan: p, screen: s, out: out, rows: newRows(s, p.model.Priced())}
}

func (r *textReport) begin() error {
	text := ""
	for _, l := range header(r.plan) {
		text += r.screen.Labeled(l[0], l[1])
	}
	text += "\n"
	if !r.plan.isGrid() {
		text += r.rows.head()
	}
	_, err := io.WriteString(r.out, text)
	return err
}

func (r *textReport) played(reports []*replay.Report) error {
	r.details.addConversation(reports[0])
	for i, one := range reports {
		r.details.add(one, r.plan.policies[i].bare, r.plan.isGrid())
	}
	if r.plan.quiet {
		return nil
	}
	text := ""
	if r.plan.isGrid() {
		text = gridBlock(r.screen, r.plan, reports)
	} else {
		text = r.rows.report(reports[0])
	}
	_, err := io.WriteString(r.out, text)
	return err
}

func (r *textReport) leftOut(err error) error {
	r.details.leftOut.add(terminal.Printable(err.Error()))
	return nil
}

func (r *textReport) end(sum *summary) error {
	text := ""
	switch {
	case sum.conversations() == 0:
		text = "no conversation was played\n"
	case r.plan.isGrid():
		text = gridTable(r.screen, r.plan, sum)
	default:
		text = r.rows.total(sum)
	}
	if sentence := conclusion(r.plan, sum); sentence != "" {
		text += "\n" + r.screen.Strong(r.screen.Wrap(sentence, 0)) + "\n"
	}
	_, err := io.WriteString(r.out, text+r.details.write(r.screen, sum)+r.recommendation(sum))
	return err
}

// recommendation ends the report.
func (r *textReport) recommendation(sum *summary) string {
	var s section
	for _, line := range recommended(r.plan, sum) {
		s.add(line)
	}
	var b strings.Builder
	s.write(&b, r.screen, r.screen.Strong, "Recommendation")
	return b.String()
}

// maxLeftOut bounds the contradictory combinations of a grid that are listed.
const maxLeftOut = 10

// header describes the run in pairs of a label and a text.
func header(p *plan) [][2]string {
	lines := [][2]string{{"policy", p.says}}
	if p.isGrid() {
		lines[0][1] += "; except for the keys of the grid"
		lines = append(lines, [2]string{"grid", terminal.Plural(len(p.policies), "combination") + " of " + gridText(p.grid)})
	}
	for i, text := range p.leftOut {
		if i == maxLeftOut {
			lines = append(lines, [2]string{"", fmt.Sprintf("… and %d more (--json has all)", len(p.leftOut)-i)})
			break
		}
		label := ""
		if i == 0 {
			label = "left out"
		}
		lines = append(lines, [2]string{label, text})
	}
	if writers := p.describeWriters(); writers != "" {
		lines = append(lines, [2]string{"writer", writers})
	}
	return append(lines,
		[2]string{"window", windows(p)},
		[2]string{"prices", describePrices(p.model)},
		[2]string{"counts", describeCounts(p.fixed)})
}

// windows is the context window of all policies, unless the grid varies it.
func windows(p *plan) string {
	for _, policy := range p.policies {
		if policy.window != p.window {
			return "as in the grid"
		}
	}
	return terminal.Commas(p.window) + " tokens"
}

// describeCounts names the source of the prompt sizes.
func describeCounts(fixed replay.Fixed) string {
	text := "the provider's counts for uncompacted prompts, where recorded; else estimates on the same scale; "
	switch f := fixedText(fixed); f {
	case "auto":
		return text + "instructions and tools as the recorded counts imply"
	case "recorded":
		return text + "instructions and tools as the recorded counts imply, however many"
	default:
		return text + f + " tokens of instructions and tools"
	}
}
