package replay

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// observe is the policy's observer. It records each compaction and its cost, and then calls the
// app's own observer, if there is one.
func (r *run) observe(ctx context.Context, o compaction.Observation) {
	if theirs := r.policy.Config.Observer; theirs != nil {
		defer theirs(ctx, o)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := &r.report.Summarizer
	used := o.Usage.Add(o.Estimated)
	if used.Total() > 0 {
		cost := costOf(o, r.opts.SummaryModel, r.policy.Config.Registry)
		sum.Calls += max(1, o.Answers)
		sum.PromptTokens += used.PromptTokens
		sum.OutputTokens += used.OutputTokens
		sum.Dollars += cost
		r.spends = append(r.spends, spend{r.calls, nanos(cost)})
	}
	if r.policy.Config.Model != nil && o.Outcome != compaction.Started {
		sum.Seconds += o.Duration.Seconds()
	}
	switch o.Outcome {
	case compaction.Stored:
		switch {
		case o.Trigger == record.TriggerMerge && o.TokensAfter > o.TokensBefore: // shown whole again, and not written
		case o.Model != "":
			sum.Written++
		case r.policy.Config.Model != nil:
			sum.WithoutModel++
		}
		r.unchecked = true
		r.stored[o.RecordID] = len(r.made)
		r.made = append(r.made, Compaction{
			Call: r.calls, Turn: r.turn + 1, Trigger: string(o.Trigger),
			Events: o.Events, OriginalTokens: o.TokensBefore, CompactedTokens: o.TokensAfter,
			ByPrice: byPrice(o.Economy),
		})
	case compaction.Failed:
		if sum.Failed++; r.failure == nil {
			r.failure = o.Err
		}
	}
}

// costOf is what the calls for a summary cost, in USD: at a price, or at that of the model that wrote it.
func costOf(o compaction.Observation, price tokens.Model, known *tokens.Registry) float64 {
	if price.Priced() {
		return price.Cost(o.Usage.Add(o.Estimated))
	}
	price, _ = known.Lookup(o.Model)
	return o.Cost + price.Cost(o.Estimated)
}

// fillCompactions completes the compactions from their records in storage.
func (r *run) fillCompactions(events []*session.Event) {
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		i, ok := r.stored[m.RecordID]
		if !ok {
			continue
		}
		made := &r.made[i]
		made.Kind, made.Level, made.Events = string(m.Kind), m.Level, m.EventCount
		made.OriginalTokens, made.CompactedTokens = m.OriginalTokens, m.CompactedTokens
		made.Kept, made.Invented = m.Kept, m.Invented
		made.Summary, _ = m.Text() // every record that the service writes has a text
		checked := Summaries{Invented: m.Invented}
		if m.Kept != nil {
			checked.Measured, checked.Kept = 1, *m.Kept
		}
		r.report.Summarizer = r.report.Summarizer.add(checked)
	}
	r.report.Compactions = append([]Compaction{}, r.made...) // never nil, so that JSON has an empty list
}
