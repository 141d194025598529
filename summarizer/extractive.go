package summarizer

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// Extractive is a summarizer without a model. It quotes instead of writing: the opening request, then
// earlier summaries' and the window's sentences richest in concrete values (numbers, dates, names,
// ids, paths, URLs, quotations) in their original order, then every tool call by name and outcome.
//
// It is deterministic, offline and linear in the size of the input. The result keeps
// Request.MaxTokens by [tokens.Estimate], save that it is never empty. It also stays under about 60% of what
// the events take, so that a summary of a short window is shorter than the window. Request.Focus
// raises the worth of sentences that hold one of its words.
//
// With Request.Summaries alone it cuts them to MaxTokens; ones that fit come back unchanged.
//
// The zero value is ready; it may be used by several goroutines.
type Extractive struct{}

// Worth of a sentence by who said it. What the user stated is what a summary is asked for later; tool
// output is long, full of numbers, and would crowd out everything else.
const (
	userWeight  = 3
	agentWeight = 1
	toolWeight  = 0.3
)

// Summarize implements the summarizer. The error is [ErrEmpty] or ctx's.
func (Extractive) Summarize(ctx context.Context, req Request) (Result, error) {
	if req.empty() {
		return Result{}, ErrEmpty
	}
	text, err := extract(ctx, req)
	if err != nil {
		return Result{}, fmt.Errorf("summarizer: extractive: %w", err)
	}
	// Cleaned first, as [Prose] will read it: a line break takes more than the form feed that it was.
	text = cutTo(clean(text), req.maxTokens())
	if blank(text) { // nothing but characters that cannot be seen fitted in
		text = cutTo(noContent, req.maxTokens())
	}
	return Result{Content: genai.NewContentFromText(text, genai.RoleModel)}, nil
}

func extract(ctx context.Context, req Request) (string, error) {
	if !hasEvents(req.Events) {
		return condense(req.Summaries, req.maxTokens(), req.Focus), ctx.Err()
	}
	d := digest{req: req, left: extractBudget(req)}
	if err := d.read(ctx); err != nil {
		return "", err
	}
	return d.write(), nil
}

// extractBudget is MaxTokens, or less where the input is so short that this would not be a summary.
func extractBudget(req Request) int {
	const perEvent = 4 // what an event takes beside its text
	sum := 0
	for _, ev := range req.Events {
		sum += tokens.OfEvent(ev) + perEvent
	}
	sum = max(8, sum*6/10)
	for _, s := range req.Summaries {
		sum += tokens.Estimate(s)
	}
	return min(sum, req.maxTokens())
}

func hasEvents(events []*session.Event) bool {
	return !Request{Events: events}.empty()
}

// condense cuts texts to budget tokens together. Each gets an equal share, and what a short one
// leaves goes to those behind it, so that every one of them is represented.
func condense(texts []string, budget int, focus string) string {
	var kept []string
	for _, t := range texts {
		if t = strings.TrimSpace(clean(t)); !blank(t) {
			kept = append(kept, t)
		}
	}
	whole := strings.Join(kept, "\n")
	if tokens.Estimate(whole) <= budget {
		return whole
	}
	for i, t := range kept {
		share := budget / (len(kept) - i)
		if tokens.Estimate(t)+lineBreak > share {
			t = richest(t, share, focus)
		}
		kept[i] = t
		if t != "" {
			budget -= tokens.Estimate(t) + lineBreak
		}
	}
	return strings.Join(nonEmpty(kept), "\n")
}

// richest keeps the sentences of one text that say most, in their lines.
func richest(text string, budget int, focus string) string {
	p := newPool(budget, 0, focus)
	group := 0
	for part := range strings.SplitSeq(text, "\n") {
		weight := 1.0
		if group == 0 {
			weight = 2 // where a summary names the subject
		}
		p.add(part, 0, group, weight)
		group++
	}
	kept, _ := p.take(budget)
	if len(kept) == 0 {
		return cutTo(escape(text), budget-lineBreak)
	}
	return strings.Join(joinGroups(kept, func(int) string { return "" }), "\n")
}

// joinGroups puts sentences of one group on one line, behind the group's prefix.
func joinGroups(kept []candidate, prefix func(group int) string) []string {
	var lines []string
	for i, c := range kept {
		if i > 0 && kept[i-1].group == c.group {
			lines[len(lines)-1] += " " + c.text
		} else {
			lines = append(lines, prefix(c.group)+c.text)
		}
	}
	return lines
}

func nonEmpty(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}
