package cli

import (
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/replay"
)

// details gathers what stands below the total. It is bounded, however many conversations there are.
type details struct {
	counts   counted
	findings section
	problems section
	over     section
	recorded section
	notes    section
	leftOut  section
}

// maxOver is how many prompts over the limit are spelled out for a conversation.
const maxOver = 3

// section is a titled list of which the first lines are kept.
type section struct {
	lines []string
	more  int
}

// maxLines is how many lines of a section are written; --json has all.
const maxLines = 40

func (s *section) add(line string) {
	if len(s.lines) == maxLines {
		s.more++
		return
	}
	s.lines = append(s.lines, line)
}

func (s *section) write(b *strings.Builder, on screen, paint func(string) string, title string) {
	if len(s.lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", paint(on.wrap(title, 0)))
	for _, line := range s.lines {
		fmt.Fprintf(b, "  %s\n", on.wrap(line, 4))
	}
	if s.more > 0 {
		fmt.Fprintf(b, "  … and %s more (--json has all)\n", commas(s.more))
	}
}

// addConversation takes in what all reports of a conversation say alike.
func (d *details) addConversation(r *replay.Report) {
	d.counts.add(r)
	for _, note := range r.Notes {
		d.notes.add(printable(r.ID) + ": " + printable(note))
	}
}

// add takes in what a report says. In a grid the policy is named.
func (d *details) add(r *replay.Report, bare, grid bool) {
	name := printable(r.ID)
	if grid {
		name += " (" + r.Policy + ")"
	}
	for _, found := range judge(r, bare) {
		d.findings.add(name + ": " + found)
	}
	for _, problem := range r.Problems {
		d.problems.add(name + ": " + printable(problem))
	}
	for i, o := range r.Over {
		if i == maxOver && len(r.Over) > maxOver+1 {
			d.over.add(fmt.Sprintf("%s: … and %s more (--json has all)", name, commas(len(r.Over)-i)))
			break
		}
		reason := fmt.Sprintf("what must stay raw takes %s, the most of it is", commas(o.KeptTokens))
		switch {
		case o.Alone:
			reason = "one event exceeds it alone:"
		case o.Unavoidable:
			reason = "what must stay raw exceeds it, above all"
		case o.Unforeseen:
			reason = fmt.Sprintf("by the counts so far %s were expected; the most of it is", commas(o.Expected))
		}
		d.over.add(fmt.Sprintf("%s, turn %s, call %s: %s tokens; %s %s of %s", name, commas(o.Turn), commas(o.Call+1),
			commas(o.Tokens), reason, printable(o.Event), commas(o.EventTokens)))
	}
	if grid {
		return // one line for each policy would bury the rest
	}
	for _, at := range r.Recorded {
		d.recorded.add(fmt.Sprintf("%s, turn %s (%s): prompt of %s before; after theirs %s, with ours %s", name, commas(at.Turn), printable(at.Trigger),
			orUnknown(at.Before), orUnknown(at.Theirs), commas(at.Ours)))
	}
}

func orUnknown(tokens int) string {
	if tokens == 0 {
		return "unknown"
	}
	return commas(tokens)
}

func (d *details) write(s screen, sum *summary) string {
	var b strings.Builder
	if counted := d.counts.text(s); counted != "" {
		b.WriteString("\n" + counted)
	}
	if len(sum.totals) == 1 {
		b.WriteString(summariesLine(s, sum.totals[0]))
		b.WriteString(factsLine(s, sum.totals[0]))
	}
	d.findings.write(&b, s, s.bad, "Findings")
	d.problems.write(&b, s, s.bad, "What a view must keep, and did not")
	d.over.write(&b, s, s.strong, "Prompts over the context window")
	d.recorded.write(&b, s, s.strong, "Compactions of the recorded application, and the prompt right after")
	d.notes.write(&b, s, s.strong, "Notes")
	d.leftOut.write(&b, s, s.strong, "Left out")
	return b.String()
}

func summariesLine(on screen, t replay.Total) string {
	s := t.Summarizer
	if s.Calls == 0 && s.Failed == 0 {
		return ""
	}
	line := fmt.Sprintf("%s of a model, %s tokens in, %s out", plural(s.Calls, "call"), commas(s.PromptTokens), commas(s.OutputTokens))
	if s.Dollars > 0 {
		line += ", $" + dollars(s.Dollars, true)
	}
	switch {
	case s.Estimated == 0:
	case s.Estimated == s.Calls:
		line += "; an estimate, because no model was asked: what one would have read and written for these summaries"
	default:
		line += fmt.Sprintf("; an estimate for %s, for which no model was asked", commas(s.Estimated))
	}
	if s.Failed > 0 {
		line += fmt.Sprintf("; %s came to nothing", plural(s.Failed, "attempt"))
	}
	return on.labelled("summaries", line)
}

func factsLine(s screen, t replay.Total) string {
	f := t.Facts
	if f == nil {
		return ""
	}
	var lines []string
	if f.Questions > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s can be answered from the last prompt (%s as said, %s from a summary); from the newest messages of that size: %s",
			commas(f.Kept), plural(f.Questions, "question"), commas(f.Raw), commas(f.Kept-f.Raw), commas(f.KeepLast)))
	}
	var others []string
	for _, group := range []struct {
		n    int
		says string
	}{
		{f.Unanswerable, "unanswerable by the recording"},
		{f.Empty, "without a question or an answer"},
		{f.Unsaid, "whose answer is not in the conversation word for word"},
	} {
		if group.n > 0 {
			others = append(others, commas(group.n)+" "+group.says)
		}
	}
	if len(others) > 0 {
		lines = append(lines, "questions that are not scored: "+strings.Join(others, ", "))
	}
	if len(lines) == 0 {
		return ""
	}
	return s.labelled("facts", strings.Join(lines, "; "))
}
