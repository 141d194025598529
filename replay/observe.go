package replay

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// observe notes what the compaction service does.
func (r *run) observe(_ context.Context, o compaction.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := &r.report.Summarizer
	if o.Usage.Total() > 0 {
		sum.Calls++
		sum.PromptTokens += o.Usage.PromptTokens
		sum.OutputTokens += o.Usage.OutputTokens
		if r.opts.SummaryModel.Priced() {
			sum.Dollars += r.opts.SummaryModel.Cost(o.Usage)
		} else {
			sum.Dollars += o.Cost
		}
	}
	switch o.Outcome {
	case compaction.Stored:
		r.unchecked = true
		r.stored[o.RecordID] = len(r.marks)
		r.marks = append(r.marks, Compaction{
			Call: r.calls, Turn: r.turn + 1, Trigger: string(o.Trigger),
			Events: o.Events, OriginalTokens: o.TokensBefore, CompactedTokens: o.TokensAfter,
		})
	case compaction.Failed:
		sum.Failed++
	}
}

// compactions completes the marks with what the records say.
func (r *run) compactions(events []*session.Event) {
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue
		}
		i, ok := r.stored[m.RecordID]
		if !ok {
			continue
		}
		mark := &r.marks[i]
		mark.Kind, mark.Level, mark.Events = string(m.Kind), m.Level, m.EventCount
		mark.OriginalTokens, mark.CompactedTokens = m.OriginalTokens, m.CompactedTokens
		mark.Summary, _ = m.Text() // a record of our own has one
	}
	r.report.Compactions = append([]Compaction{}, r.marks...) // in JSON a list, also where there are none
}
