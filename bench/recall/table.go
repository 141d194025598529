package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
)

func count(n int) string { return humanize.Comma(int64(n)) }

func printFound(out io.Writer, m measured) {
	fmt.Fprint(out, "**The messages with the answer, among the first k hits, in percent**\n\n")
	fmt.Fprintln(out, "| history | questions | in memory, R@1 / R@5 / R@10 | in the file | the same first five | ADK's memory.Service |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|")
	at := func(r ranks) string { return fmt.Sprintf("%.1f / %.1f / %.1f", r.at(0), r.at(1), r.at(2)) }
	for _, f := range m.all() {
		fmt.Fprintf(out, "| %s | %d | %s | %s | %.1f%% | %s |\n", f.name, f.memory.questions, at(f.memory), at(f.file), f.memory.sameFirst(f.file), at(f.adk))
	}
	fmt.Fprintln(out)
}

func printAnswers(out io.Writer, m measured) {
	fmt.Fprint(out, "**Questions with an accepted answer, word for word, in what the model is shown (its tokens)**\n\n")
	fmt.Fprintln(out, "| shown | "+strings.Join(each(m, func(f found) string {
		return fmt.Sprintf("%s, %d questions, %s tokens", f.name, f.answers.questions, count(f.answers.raw))
	}), " | ")+" |")
	fmt.Fprintln(out, "|---"+strings.Repeat("|---", len(m.all()))+"|")
	row := func(name string, of func(answers) tally) {
		fmt.Fprintf(out, "| %s | %s |\n", name, strings.Join(each(m, func(f found) string {
			a, t := f.answers, of(f.answers)
			cell := fmt.Sprintf("%.1f%% (%s", a.share(t), count(a.promptTokens(t)))
			if t.read > 0 {
				cell += " + " + count(a.readTokens(t))
			}
			return cell + ")"
		}), " | "))
	}
	row("the newest messages alone", func(a answers) tally { return a.newest })
	row("contextguard", func(a answers) tally { return a.guard })
	row("longsession, no ledger", func(a answers) tally { return a.bare })
	row("the same, or one search of ADK's memory.Service", func(a answers) tally { return a.adk })
	row("longsession, a ledger of 600 (the default)", func(a answers) tally { return a.ledger })
	row(fmt.Sprintf("longsession, a ledger of %s", count(richLedger)), func(a answers) tally { return a.rich })
	row("longsession, or one recall", func(a answers) tally { return a.recall })
	fmt.Fprintln(out)
}

func each(m measured, cell func(found) string) []string {
	var cells []string
	for _, f := range m.all() {
		cells = append(cells, cell(f))
	}
	return cells
}

func printCoding(out io.Writer, m measured) {
	fmt.Fprintf(out, "**Files that the agents of %d coding sessions name again**\n\n", m.sessions)
	fmt.Fprintln(out, "| window | way | named again | in the prompt | in no raw message | of these, in the prompt | tokens of a prompt |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for _, c := range m.coding {
		f := c.files
		fmt.Fprintf(out, "| %s | %s | %d | %d (%.1f%%) | %d | %d (%.1f%%) | %s |\n", count(c.window), c.name, f.again,
			f.there, percent(float64(f.there), f.again), f.behind, f.behindThere, percent(float64(f.behindThere), f.behind), count(f.prompt/max(1, f.calls)))
	}
	fmt.Fprintln(out)
}

func printMissed(out io.Writer, m measured) {
	for _, f := range m.all() {
		for _, r := range []struct {
			what   string
			missed []string
		}{
			{"not among the first five of the index in memory", f.memory.missed},
			{"not among the first five of the index in the file", f.file.missed},
			{"not in the prompt with the default ledger", f.answers.ledger.missed},
			{"not in the prompt with the larger ledger", f.answers.rich.missed},
			{"in neither the prompt nor one recall", f.answers.recall.missed},
		} {
			fmt.Fprintf(out, "%s, %s: %s\n", f.name, r.what, strings.Join(r.missed, " "))
		}
	}
	fmt.Fprintln(out)
}

func printCost(out io.Writer, c cost) {
	fmt.Fprintf(out, "**The cost, on an invented session of %s events of %d bytes**\n\n", count(c.events), bytesPerEvent)
	fmt.Fprintln(out, "| | |")
	fmt.Fprintln(out, "|---|---|")
	for _, r := range c.rows() {
		fmt.Fprintf(out, "| %s | %s |\n", r[0], r[1])
	}
	fmt.Fprintln(out)
}

// printGoals returns an error if a goal is missed that does not depend on the machine.
func printGoals(out io.Writer, goals []goal) error {
	fmt.Fprintln(out, "| goal | figure | asked for | |")
	fmt.Fprintln(out, "|---|---|---|---|")
	var missed []string
	for _, g := range goals {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", g.what, g.figure(), g.bound(), g.verdict())
		if !g.met() && !g.timed {
			missed = append(missed, g.what)
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("%w: %s", errMissed, strings.Join(missed, "; "))
	}
	return nil
}
