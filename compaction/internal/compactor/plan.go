package compactor

import (
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// action is what a job does next.
type action int

const (
	nothing      action = iota // the job is done; reason is why, "" for an ordinary end
	wait                       // there is nothing to summarize: wait until the prompt has grown to until
	summarize                  // write the summary of window
	mergeSummary               // write one summary in the place of the two that window absorbs
	shrink                     // write a summary again, with at most shorter tokens
	rewrite                    // store a summary again as given, without asking anyone
)

// step is the decision on one snapshot.
type step struct {
	action action
	// window is what a summary is written of: by summarize of events, by the others of summaries
	// alone.
	window selector.Selection
	// candidate is what made the step necessary.
	candidate candidate
	// extractive says that no model is asked, by this step and the following ones.
	extractive bool
	// makesRoom says that a merge makes room for the summary of candidate, which is next.
	makesRoom bool
	// reason is what is reported where nothing can be done, "" for nothing to report.
	reason string
	// until is the size that the prompt of candidate.reader waits for, in tokens.
	until int
	// shorter is how long the summary may be at most, in tokens; 0 for the configured length.
	shorter int
	// given is the prose of a rewrite, and noValues says that its branch shows no exact values behind it.
	given    string
	noValues bool
	// otherwise is the end of the job if summaries cannot be made shorter; nil for the steps of a
	// window.
	otherwise *step
	// overLimit says that the prompt is over the hard limit for certain: summaries must be made
	// shorter.
	overLimit bool
}

// writes reports whether the step writes a summary.
func (st *step) writes() bool { return st.action != nothing && st.action != wait }

// plan decides what a job does next. It is pure: all that it knows is in the snapshot.
//
//	nothing is due                                 -> nothing
//	five turns are complete                        -> summarize them
//	... and the branch shows MaxSummaries already  -> merge two summaries; then summarize
//	the prompt is too large, no event can go       -> wait until it has grown
//	... and it is over the hard limit              -> merge two summaries, or shrink the longest
func plan(s snapshot) step {
	switch {
	case s.worthless:
		end := step{action: nothing, candidate: *s.chosen, extractive: s.job.Extractive}
		if st, found := s.shrinkSummaries(*s.chosen); found {
			st.otherwise = &end
			return st
		}
		return end
	case s.chosen != nil:
		return s.makeRoom(*s.chosen)
	}
	c := s.findDue()
	if s.ahead && c.Empty() {
		return step{}
	}
	hopeless := s.cannotFit(c)
	if reason := s.whyNoWindow(c, hopeless); reason != "" {
		return s.withoutWindow(c, reason, hopeless)
	}
	s.job.Extractive = s.job.Extractive || c.Unbounded
	if s.job.Forced && c.Tokens < leastWindow() {
		c.AbsorbNewest(s.summariesOf(c.Branch), s.at)
	}
	return s.makeRoom(c)
}

// whyNoWindow returns why the candidate is not summarized, "" if it is.
func (s *snapshot) whyNoWindow(c candidate, hopeless bool) string {
	switch {
	case c.atLimitOnly && hopeless:
		return "prompt exceeds the context window, and all that may be summarized is too little to change that"
	case c.atLimitOnly && c.Tokens < s.limits.Margin && c.prompt.Likely < s.limits.HardLimit:
		// The last compaction could not help. This one would not either, and it is not certain to
		// be needed.
		return "prompt may be over the hard limit, and the window is too small to change that"
	}
	return string(c.Reason)
}

// makeRoom summarizes the candidate, or first merges two summaries if the branch shows enough of
// them.
func (s *snapshot) makeRoom(c candidate) step {
	merge, needed := selector.MakeRoom(&c.Selection, s.summariesOf(c.Branch), s.at, s.maxSummaries)
	if needed {
		return step{action: mergeSummary, window: merge, candidate: c, makesRoom: true, extractive: s.job.Extractive}
	}
	return step{action: summarize, window: c.Selection, candidate: c, extractive: s.job.Extractive}
}

// withoutWindow is the step if no window can be summarized. Over the hard limit the summaries
// themselves must get shorter, without a model if the model cannot do it.
func (s *snapshot) withoutWindow(c candidate, reason string, hopeless bool) step {
	end := s.end(c, reason)
	if hopeless {
		return end
	}
	if st, found := s.shrinkSummaries(c); found {
		st.otherwise = &end
		return st
	}
	if !s.job.Extractive && c.prompt.Likely >= s.limits.HardLimit {
		// A window whose summary by the model was not shorter may be tried again without one.
		without := *s
		without.job.Extractive = true
		return plan(without)
	}
	return end
}

// end is the last step of a job that found no window. A token trigger that is due and can do
// nothing waits until the prompt has grown by a hundredth, half of what lies between the default
// hard limit and the end of the effective window. Otherwise every event would start a job. One that only prices made
// due waits for a fifth of the least window: what is left of it may be worth a summary then.
func (s *snapshot) end(c candidate, reason string) step {
	st := step{action: nothing, candidate: c, reason: reason, extractive: s.job.Extractive}
	if c.Reason == selector.NotDue {
		st.reason = ""
		if again, found := s.restore(c); found {
			again.otherwise = &st
			return again
		}
		return st
	}
	if c.trigger == record.TriggerTokens {
		st.action, st.until = wait, c.prompt.Likely+max(1, c.prompt.Likely/100)
	}
	if c.Reason == doesNotPay {
		st.until = max(st.until, c.prompt.Likely+c.prompt.Economy.MinWindow/5)
		if threshold := s.limits.Threshold; threshold > 0 { // which is due at any price
			st.until = min(st.until, threshold)
		}
	}
	if c.Reason == selector.TooSmall { // this was reported when the summary came out too long
		st.reason = ""
	}
	return st
}

// shrinkSummaries makes the summaries shorter that the reader of a prompt over the hard limit sees:
// it merges two of them, or, if no two may be merged, cuts the longest to half, or as far below as
// the prompt needs. found is false if the prompt would exceed the window even with the shortest
// summaries.
func (s *snapshot) shrinkSummaries(c candidate) (st step, found bool) {
	if !s.job.Forced || c.trigger != record.TriggerTokens || c.prompt.AtMost < s.limits.HardLimit {
		return st, false
	}
	if c.prompt.Without(s.reclaimable(c.reader)) > s.limits.Capacity {
		return st, false
	}
	st = step{action: mergeSummary, candidate: c, extractive: s.job.Extractive, overLimit: c.prompt.Likely >= s.limits.HardLimit}
	if without, ok := s.withoutValues(c); ok && st.overLimit {
		return without, true
	}
	var longest selector.Selection
	for _, branch := range s.branches {
		if !adk.Visible(c.reader, branch) {
			continue
		}
		shown := s.summariesOf(branch)
		if merge, ok := selector.Merge(branch, shown, s.at); ok {
			st.window = merge
			return st, true
		}
		for _, m := range shown {
			if one := selector.Rewrite(branch, s.at, m); one.Tokens > longest.Tokens {
				longest = one
			}
		}
	}
	// Cutting loses detail, so it must be needed for certain. The estimate alone would ask for a
	// cut after every event whose report by the provider is still to come.
	prose := longest.Tokens - promptsize.Frame(record.KindSummary, longest.After != nil)
	if prose <= meter.MinSummary || !st.overLimit {
		return st, false
	}
	mustFree := c.prompt.EstimateOf(c.prompt.Likely - s.limits.HardLimit)
	st.action, st.window = shrink, longest
	st.shorter = max(meter.MinSummary, min(prose/2, prose-mustFree))
	return st, true
}

// withoutValues takes the exact values, and what the user said, out of a prompt over the hard limit: the messages that they
// come from are summarized, and a summary that is cut loses more.
func (s *snapshot) withoutValues(c candidate) (st step, found bool) {
	for _, ev := range s.state.View {
		m := s.state.Summary(ev)
		if m == nil || m.LedgerTokens+m.SaidTokens == 0 || !adk.Visible(c.reader, adk.Lane(ev)) {
			continue
		}
		prose, err := m.Text()
		if err != nil || promptsize.OfEvent(ev)-promptsize.OfSummary(m) <= meter.MinSummary {
			continue
		}
		return step{action: rewrite, window: selector.Rewrite(adk.Lane(ev), s.at, m), candidate: c, extractive: s.job.Extractive, given: prose, noValues: true}, true
	}
	return st, false
}

// restore shows a summary as it was before it was cut, once that leaves the prompts of all its readers under the
// threshold. If the exact values behind it would not fit as well, it comes without them.
func (s *snapshot) restore(c candidate) (st step, found bool) {
	for _, branch := range s.branches {
		for _, m := range s.summariesOf(branch) {
			prose, err := m.Text()
			if err != nil || m.Uncut == "" {
				continue
			}
			more := tokens.Estimate(m.Uncut) - tokens.Estimate(prose)
			if !s.hasRoom(branch, more) {
				continue
			}
			return step{
				action: rewrite, window: selector.Rewrite(branch, s.at, m), candidate: c, extractive: s.job.Extractive,
				given: m.Uncut, noValues: !s.hasRoom(branch, more+s.limits.LedgerTokens+s.limits.UserTokensWithTools),
			}, true
		}
	}
	return st, false
}

// hasRoom reports whether the prompts of all that see a branch stay under the threshold with so many tokens more.
func (s *snapshot) hasRoom(branch string, estimate int) bool {
	for _, reader := range s.branches {
		if !adk.Visible(reader, branch) {
			continue
		}
		size, _ := s.measure(reader)
		if more := size.With(estimate); more >= s.limits.HardLimit || s.limits.Threshold > 0 && size.Likely-size.AtMost+more >= s.limits.Threshold {
			return false
		}
	}
	return true
}

// cannotFit reports whether a prompt exceeds the whole context window whatever is summarized and
// merged, even if estimates are off: a call for every event that comes in would buy nothing.
func (s *snapshot) cannotFit(c candidate) bool {
	if c.trigger != record.TriggerTokens || c.Cut {
		return false
	}
	return c.prompt.Without(c.Spare+s.reclaimable(c.reader)) > meter.PlusError(s.limits.Capacity)
}

// reclaimable is how many estimated tokens the summaries that a reader sees could give back: all
// that they take up with their frames, less one summary of the shortest length for each position
// that has any.
func (s *snapshot) reclaimable(reader string) int {
	type place struct {
		branch string
		at     selector.Position
	}
	shortest, sum := map[place]int{}, 0
	for _, ev := range s.state.View {
		m := s.state.Summary(ev)
		if m == nil || !adk.Visible(reader, adk.Lane(ev)) {
			continue
		}
		size, text := promptsize.OfEvent(ev), 0
		if prose, err := m.Text(); err == nil {
			text = tokens.Estimate(prose)
		}
		here := place{adk.Lane(ev), s.at(m)}
		sum += size
		addition := size - promptsize.OfSummary(m)
		shortest[here] = max(shortest[here], size-max(0, text-meter.MinSummary)-max(0, addition-meter.MinSummary))
	}
	for _, size := range shortest {
		sum -= size
	}
	return sum
}

// floorAfter returns the size that the reader's prompt must reach before the token trigger fires
// again, 0 for none. There is one after a compaction that left the prompt over the threshold,
// unless more was waiting than one window could take, in this branch or in another.
func (s *snapshot) floorAfter(c candidate) int {
	if c.trigger != record.TriggerTokens || c.Cut || s.limits.Threshold == 0 {
		return 0
	}
	size, _ := s.measure(c.reader)
	if size.Likely < s.limits.Threshold {
		return 0
	}
	next := selector.Relieve(s.input, s.params, s.branches, c.reader, s.mustFree(size.Likely))
	if !next.Empty() && next.Branch != c.Branch {
		return 0
	}
	return size.Likely + max(1, size.Likely/10)
}
