package summarizer

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// Extractive is a summarizer without a model. It writes no sentence of its own. It quotes the
// opening request, then those sentences of the window and of earlier summaries that are richest in
// concrete values (numbers, dates, names, IDs, paths, URLs, quotations), in their original order.
// Then it lists every tool call with its name and outcome. It names the references (ref_id) of tool results
// that were shortened, the newest if there is no room for all, so that read_result can still read them.
//
// It is deterministic, needs no network, and takes time linear in the size of the input. The result
// has at most Request.MaxTokens tokens, as [tokens.Estimate] counts them, but is never empty. It
// also has at most about 60% of the tokens of the events, so that the summary of a short window is
// shorter than the window. Sentences with a word of Request.Focus are preferred.
//
// If the request has only Summaries, Extractive cuts them to MaxTokens together. Summaries that fit
// come back unchanged.
//
// The zero value is ready to use, and safe for concurrent use.
type Extractive struct{}

// The weight of a sentence depends on its speaker. The user's statements matter most later. Tool
// output is long and full of numbers, and would otherwise crowd out everything else.
const (
	userWeight  = 3
	agentWeight = 1
	toolWeight  = 0.3
)

// Summarize returns the digest of req. The error is [ErrEmpty], or wraps ctx's error.
func (Extractive) Summarize(ctx context.Context, req Request) (Result, error) {
	if req.empty() {
		return Result{}, ErrEmpty
	}
	text, err := extract(ctx, req)
	if err != nil {
		return Result{}, fmt.Errorf("summarizer: extractive: %w", err)
	}
	// Clean the text before cutting it, as [Prose] would do afterwards: cleaning can lengthen it,
	// because a form feed becomes a line break with more tokens.
	text = cutTo(clean(text), req.maxTokens())
	if blank(text) { // only invisible characters fit
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

// extractBudget returns MaxTokens, or less if the input is too short for a summary of that length.
func extractBudget(req Request) int {
	const perEvent = 4 // tokens of an event in addition to its text
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

// condense cuts texts to budget tokens in total. Each text gets an equal share, and what a short
// text does not use goes to the texts after it. So every text is represented.
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

// richest returns the sentences of one text with the most concrete values, each on its own line.
func richest(text string, budget int, focus string) string {
	p := newPool(budget, 0, focus)
	group := 0
	for part := range strings.SplitSeq(text, "\n") {
		weight := 1.0
		if group == 0 {
			weight = 2 // a summary names its subject there
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

// joinGroups puts the sentences of each group on one line, after the group's prefix.
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
