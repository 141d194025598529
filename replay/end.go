package replay

import (
	"context"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// finish fills in the parts of the report that need the whole run.
func (r *run) finish(ctx context.Context, played Played) error {
	rep, w := r.report, r.whole
	r.noteDifferences(played)
	rep.Without = w.sent(r.c, r.scale, r.opts.Model)
	rep.With = r.sum.sent(r.c, played, r.opts.Model).add(r.words)
	rep.SavedPercent = saved(rep.Without, rep.With)
	rep.Counts = Counts{Pauses: pauses(w.times), Recorded: r.scale.counted(), Ratio: r.scale.ratio, Fixed: int(r.scale.fixed), Left: r.scale.leftOut}
	bills := guarded{r}
	with, without := bills.costs(r.usages, r.spends), bills.costs(w.usages(r.scale), nil)
	for i, size := range r.prompts {
		point := Call{With: size, WithUSD: with[i]}
		if i < len(w.calls) {
			point.Turn, point.Without, point.WithoutUSD = w.turns[i]+1, r.scale.at(i, w.calls[i].size), without[i]
		}
		rep.Calls = append(rep.Calls, point)
	}
	rep.Recorded = r.atRecorded()
	if len(r.c.Questions) > 0 {
		recalled, err := r.searcher(ctx)
		if err != nil {
			return err
		}
		if rep.Facts, rep.Unanswered, err = r.facts(recalled); err != nil {
			return err
		}
	}
	raw, err := r.inner.Get(ctx, r.get())
	if err != nil {
		return err
	}
	events := eventsOf(raw.Session)
	rep.Events = len(events)
	view := events
	if r.svc != nil {
		if view, err = r.viewAtTheEnd(ctx); err != nil {
			return err
		}
		r.checkView(events, view)
	}
	rep.Lost = r.lost(view)
	r.fillCompactions(events)
	if err := (guarded{r}).fill(); err != nil {
		return err
	}
	if r.layers != nil {
		return r.layers.report(ctx, r)
	}
	return nil
}

// atRecorded compares our prompts with the recorded ones, at each compaction of the recorded
// application.
func (r *run) atRecorded() []AtRecorded {
	var found []AtRecorded
	for _, theirs := range r.c.Compactions {
		call := callOf(r.c, theirs.Turn, theirs.Step)
		if call >= len(r.prompts) {
			continue
		}
		at := AtRecorded{Call: call, Turn: theirs.Turn + 1, Trigger: theirs.Trigger, Before: theirs.PromptTokens, Ours: r.prompts[call]}
		if steps := r.c.Turns[theirs.Turn].Steps; theirs.Step < len(steps) {
			at.Theirs = steps[theirs.Step].PromptTokens
		}
		// Theirs includes the whole fixed part, whatever Options.Fixed makes of ours.
		at.Ours += int(r.whole.scale.fixed) - r.scale.base()
		found = append(found, at)
	}
	return found
}

// callOf is the index of the model call for a step. A turn without steps has one call, for the
// placeholder: in turns with 2, 0 and 1 steps, the step of the third turn is call 3.
func callOf(c *conversation.Conversation, turn, step int) int {
	n := step
	for _, t := range c.Turns[:turn] {
		n += max(1, len(t.Steps))
	}
	return n
}

// noteDifferences notes where the runner did not play the recording as it is.
func (r *run) noteDifferences(played Played) {
	if extra := max(played.Extra, r.whole.played.Extra); extra > 0 {
		r.note("model calls that the recording does not have, because the runner asked again: %d", extra)
	}
	if s := r.whole.scale; s.implausible > 0 {
		r.note("recorded token counts that cannot be right (such as %d for messages of some %d), not followed: %d", s.firstCount, s.firstEstimate, s.implausible)
	}
	if n := implausibleOutputs(r.c); n > 0 {
		r.note("recorded token counts of answers that cannot be right, not followed: %d", n)
	}
	if r.failure != nil {
		r.note("summaries that could not be written: %d; the first: %v", r.report.Summarizer.Failed, r.failure)
	}
	if r.overAsRecorded > 0 {
		r.note("prompts that the recording's provider counted above the context window, although the counts given to the library were below it: %d", r.overAsRecorded)
	}
	media := 0
	for _, turn := range r.c.Turns {
		for _, step := range turn.Steps {
			for _, resp := range step.Responses {
				media += len(resp.Parts)
			}
		}
	}
	if media > 0 {
		r.note("pictures and files in tool results, left out: %d", media)
	}
}
