package replaycmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// details collects the sections below the total. Its size is bounded, however many conversations
// there are.
type details struct {
	counts   counted
	findings section
	problems section
	over     section
	recorded section
	byPrice  section
	alerts   section
	stops    section
	marked   section
	notes    section
	leftOut  section
}

// maxOver bounds the prompts over the limit that are listed for a conversation.
const maxOver = 3

// section is a list that keeps its first lines.
type section struct {
	lines []string
	more  int
}

// maxLines bounds the lines of a section; --json has all.
const maxLines = 40

func (s *section) add(line string) {
	if len(s.lines) == maxLines {
		s.more++
		return
	}
	s.lines = append(s.lines, line)
}

// write writes the section with its title, or nothing if it is empty.
func (s *section) write(b *strings.Builder, on terminal.Screen, paint func(string) string, title string) {
	if len(s.lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", paint(on.Wrap(title, 0)))
	for _, line := range s.lines {
		fmt.Fprintf(b, "  %s\n", on.Wrap(line, 4))
	}
	if s.more > 0 {
		fmt.Fprintf(b, "  … and %s more (--json has all)\n", terminal.Commas(s.more))
	}
}

// addConversation adds what the reports of a conversation have in common.
func (d *details) addConversation(r *replay.Report) {
	d.counts.add(r)
	for _, a := range r.Alerts {
		d.alerts.add(fmt.Sprintf("%s, turn %s, call %s: %s (%s): %s", terminal.Printable(r.ID), terminal.Commas(a.Turn), terminal.Commas(a.Call+1), terminal.Printable(a.Signal), a.Severity, terminal.Printable(a.Text)))
	}
	for _, m := range r.Checkpoints {
		d.marked.add(fmt.Sprintf("%s, turn %s, call %s: %s", terminal.Printable(r.ID), terminal.Commas(m.Turn), terminal.Commas(m.Call+1), terminal.Printable(m.Detail)))
	}
	for _, note := range r.Notes {
		d.notes.add(terminal.Printable(r.ID) + ": " + terminal.Printable(note))
	}
}

// add adds a report. In a grid its lines name the policy. A prompt over the limit comes with the reason
// that fits best: one event exceeds the window alone, all that must stay raw does, or the library
// could not have known the size in advance. Without any of them it is a finding as well.
func (d *details) add(r *replay.Report, bare, grid bool) {
	name := terminal.Printable(r.ID)
	if grid {
		name += " (" + r.Policy + ")"
	}
	for _, found := range judge(r, bare) {
		d.findings.add(name + ": " + found)
	}
	for _, problem := range r.Problems {
		d.problems.add(name + ": " + terminal.Printable(problem))
	}
	for i, o := range r.Over {
		if i == maxOver && len(r.Over) > maxOver+1 {
			d.over.add(fmt.Sprintf("%s: … and %s more (--json has all)", name, terminal.Commas(len(r.Over)-i)))
			break
		}
		reason := fmt.Sprintf("%s of them must stay raw; the largest event is", terminal.Commas(o.KeptTokens))
		switch {
		case o.Alone:
			reason = "one event exceeds the window alone:"
		case o.Unavoidable:
			reason = "the events that must stay raw exceed the window; the largest is"
		case o.Unforeseen:
			reason = fmt.Sprintf("the counts so far predicted %s; the largest event is", terminal.Commas(o.Expected))
		}
		d.over.add(fmt.Sprintf("%s, turn %s, call %s: %s tokens; %s %s of %s", name, terminal.Commas(o.Turn), terminal.Commas(o.Call+1),
			terminal.Commas(o.Tokens), reason, terminal.Printable(o.Event), terminal.Commas(o.EventTokens)))
	}
	for _, w := range r.WouldStop {
		d.stops.add(fmt.Sprintf("%s, turn %s, after call %s: %s, %s; %s would not have been made", name, terminal.Commas(w.Turn), terminal.Commas(w.Call+1),
			w.Kind, terminal.Printable(strings.TrimSuffix(w.Text, ".")), terminal.Plural(w.CallsAfter, "call")))
	}
	if line := paid(r); line != "" {
		d.byPrice.add(name + ": " + line)
	}
	if grid {
		return // a line for each policy would bury the rest
	}
	for _, at := range r.Recorded {
		d.recorded.add(fmt.Sprintf("%s, turn %s (%s): prompt of %s before; %s after the recorded compaction, %s with this policy", name, terminal.Commas(at.Turn), terminal.Printable(at.Trigger),
			orUnknown(at.Before), orUnknown(at.Theirs), terminal.Commas(at.Ours)))
	}
}

// paid describes the compactions that prices decided, "" for none.
func paid(r *replay.Report) string {
	var first *replay.Compaction
	n := 0
	for i := range r.Compactions {
		if r.Compactions[i].ByPrice != nil {
			if n++; first == nil {
				first = &r.Compactions[i]
			}
		}
	}
	if n == 0 {
		return ""
	}
	why := first.ByPrice
	return fmt.Sprintf("%s; before call %s, because what the summary replaced had cost %s (at least %s), and would cost %s more in a quarter as many calls; a summary cost %s",
		terminal.Plural(n, "compaction"), terminal.Commas(first.Call+1), usd(why.Held), usd(why.Threshold), usd(why.Saving), usd(why.Price))
}

// orUnknown writes a recorded size. A recording without it has 0.
func orUnknown(tokens int) string {
	if tokens == 0 {
		return "unknown"
	}
	return terminal.Commas(tokens)
}

// write writes all sections that are not empty. In a grid, costs of summaries and questions are in
// the tables of policies.
func (d *details) write(s terminal.Screen, sum *summary) string {
	var b strings.Builder
	if counted := d.counts.text(s); counted != "" {
		b.WriteString("\n" + counted)
	}
	if len(sum.totals) == 1 {
		b.WriteString(summariesLine(s, sum.totals[0]))
		b.WriteString(layersLine(s, sum.totals[0]))
		b.WriteString(saidLine(s, sum.totals[0]))
		b.WriteString(keptLine(s, sum.totals[0]))
		b.WriteString(factsLine(s, sum.totals[0]))
	} else {
		b.WriteString(keptTable(s, sum.totals))
	}
	d.findings.write(&b, s, s.Bad, "Findings")
	d.problems.write(&b, s, s.Bad, "Violations of the rules for a view")
	d.over.write(&b, s, s.Strong, "Prompts over the context window")
	d.recorded.write(&b, s, s.Strong, "Compactions of the recorded application, and the prompt right after")
	d.byPrice.write(&b, s, s.Strong, "Compactions that were to pay, and the first of each conversation")
	d.alerts.write(&b, s, s.Strong, "Alerts of the watchdog")
	d.stops.write(&b, s, s.Strong, "Where a guard would have stopped; the conversations were played to their ends")
	d.marked.write(&b, s, s.Strong, "Finished tasks that the model reported (mark_task_done)")
	d.notes.write(&b, s, s.Strong, "Notes")
	d.leftOut.write(&b, s, s.Strong, "Left out")
	return b.String()
}

// summariesLine is the cost of writing the summaries, and how much of it is an estimate.
func summariesLine(on terminal.Screen, t replay.Total) string {
	s := t.Summarizer
	if s.Calls == 0 && s.Failed == 0 {
		return ""
	}
	line := fmt.Sprintf("%s of a model, %s tokens in, %s out", terminal.Plural(s.Calls, "call"), terminal.Commas(s.PromptTokens), terminal.Commas(s.OutputTokens))
	if s.Dollars > 0 {
		line += ", $" + dollars(s.Dollars, true)
	}
	switch {
	case s.Estimated == 0:
	case s.Estimated == s.Calls:
		line += "; an estimate of what a model would have read and written: no model was called"
	default:
		line += fmt.Sprintf("; %s of them are estimates: no model was called for them", terminal.Commas(s.Estimated))
	}
	if n := s.Written + s.WithoutModel; n > 0 && s.Seconds > 0 {
		line += fmt.Sprintf(", %.1f s; it wrote %s of %s stored", s.Seconds, terminal.Commas(s.Written), terminal.Commas(n))
	}
	if s.Failed > 0 {
		line += fmt.Sprintf("; %s failed", terminal.Plural(s.Failed, "attempt"))
	}
	return on.Labeled("summaries", line)
}

// layersLine is what the layers besides compaction did.
func layersLine(on terminal.Screen, t replay.Total) string {
	l := t.Layers
	if l == nil {
		return ""
	}
	line := fmt.Sprintf("%s shortened, %s of them read back whole", terminal.Plural(l.Shortened, "tool result"), terminal.Commas(l.ReadBack))
	var causes []string
	breaks := 0
	for _, cause := range slices.Sorted(maps.Keys(l.PrefixBreaks)) {
		breaks += l.PrefixBreaks[cause]
		causes = append(causes, cause+" "+terminal.Commas(l.PrefixBreaks[cause]))
	}
	for _, section := range slices.Sorted(maps.Keys(l.BrokenSections)) {
		causes = append(causes, "at "+terminal.Printable(section)+" "+terminal.Commas(l.BrokenSections[section]))
	}
	if breaks > 0 {
		line += fmt.Sprintf("; %s do not extend the one before (%s)", terminal.Plural(breaks, "request"), strings.Join(causes, ", "))
	}
	if l.Refused > 0 {
		line += fmt.Sprintf("; %s refused, which exceed the window whatever is left out", terminal.Plural(l.Refused, "request"))
	}
	return on.Labeled("layers", line) + declarationsLine(on, l.Declarations)
}

// declarationsLine is what tool search did, "" if there was nothing to do.
func declarationsLine(on terminal.Screen, d *replay.Declarations) string {
	if d == nil {
		return ""
	}
	if d.Deferred == 0 {
		return on.Labeled("tools", fmt.Sprintf("%s declared in every request, %s tokens in all; none was deferred", terminal.Plural(d.Tools, "tool"), terminal.Commas(d.AllTokens)))
	}
	searches := "one search, which is not played"
	if d.Searches != 1 {
		searches = terminal.Commas(d.Searches) + " searches, which are not played"
	}
	return on.Labeled("tools", fmt.Sprintf("%s of %s deferred: %s tokens of declarations in all requests instead of %s; the model would have needed up to %s",
		terminal.Commas(d.Deferred), terminal.Plural(d.Tools, "tool"), terminal.Commas(d.Tokens), terminal.Commas(d.AllTokens), searches))
}

// factsLine is the number of questions that can still be answered. It compares with the simplest way
// to shorten a prompt, which keeps only the newest messages.
func factsLine(s terminal.Screen, t replay.Total) string {
	f := t.Facts
	if f == nil {
		return ""
	}
	var lines []string
	if f.Questions > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s can be answered from the last prompt (%s from raw events, %s from a summary), and %s from that or one recall; with only the newest messages of that size, %s could",
			terminal.Commas(f.Kept), terminal.Plural(f.Questions, "question"), terminal.Commas(f.Raw), terminal.Commas(f.Kept-f.Raw), terminal.Commas(f.Recalled), terminal.Commas(f.KeepLast)))
	}
	var others []string
	for _, group := range []struct {
		n    int
		what string
	}{
		{f.Unanswerable, "marked unanswerable in the recording"},
		{f.Empty, "without a question or an answer"},
		{f.Unsaid, "whose answer is not in the conversation word for word"},
	} {
		if group.n > 0 {
			others = append(others, terminal.Commas(group.n)+" "+group.what)
		}
	}
	if len(others) > 0 {
		lines = append(lines, "questions that are not scored: "+strings.Join(others, ", "))
	}
	if len(lines) == 0 {
		return ""
	}
	return s.Labeled("facts", strings.Join(lines, "; "))
}

// counted collects the sources of the prompt sizes: the provider's own counts, where the recording has
// them, and estimates on the same scale. The zero value has seen no report.
type counted struct {
	reports, calls, recorded int
	low, high                float64 // of the ratios of reports with recorded counts
	fixed                    int     // the most tokens that a prompt had in addition to the messages
	leftOut                  int     // reports without those tokens
}

func (c *counted) add(r *replay.Report) {
	c.reports++
	c.calls += r.Without.ModelCalls
	c.recorded += r.Counts.Recorded
	if r.Counts.Recorded > 0 {
		if c.low == 0 || r.Counts.Ratio < c.low {
			c.low = r.Counts.Ratio
		}
		c.high = max(c.high, r.Counts.Ratio)
	}
	if r.Counts.Left {
		c.leftOut++
	} else {
		c.fixed = max(c.fixed, r.Counts.Fixed)
	}
}

// text is empty if no report was seen.
func (c *counted) text(s terminal.Screen) string {
	if c.reports == 0 {
		return ""
	}
	text := "all prompt sizes are estimates"
	if c.recorded > 0 {
		text = fmt.Sprintf("the provider counted %s of %s prompts without compaction, the others are estimates; one estimated token is %s of the provider's",
			terminal.Commas(c.recorded), terminal.Commas(c.calls), ratios(c.low, c.high))
	}
	if c.fixed > 0 {
		text += fmt.Sprintf(", with up to %s tokens of instructions and tools in each", terminal.Commas(c.fixed))
	}
	if c.leftOut > 0 {
		text += fmt.Sprintf("; without the recorded instructions and tools in %s, where they took more than half of the window (--fixed)", terminal.Plural(c.leftOut, "report"))
	}
	return s.Labeled("counted", text)
}

// ratios writes a range, or one number if both ends look alike: "0.97 to 1.12", "1.00".
func ratios(low, high float64) string {
	if text := fmt.Sprintf("%.2f", low); text == fmt.Sprintf("%.2f", high) {
		return text
	}
	return fmt.Sprintf("%.2f to %.2f", low, high)
}
