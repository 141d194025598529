package compactor

import (
	"math"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

// candidate is a window and the trigger that made it due. If there is no window, it has the reason.
type candidate struct {
	selector.Relief
	trigger record.Trigger
	// kind and note are those of a checkpoint that the model asked for, "" for any other window.
	kind record.Kind
	note string
	// reader is the branch whose prompt the token trigger measured, and prompt its size.
	reader string
	prompt meter.Prompt
	// atLimitOnly means that only the hard limit made it due: the token trigger is off, or the
	// floor that an earlier compaction left holds it back.
	atLimitOnly bool
	// byPrice means that the prompt is under the token trigger's threshold, and a compaction pays.
	byPrice bool
	// missing is how many more invocations must begin before the invocation trigger can be due; -1
	// if that was not found out.
	missing int
}

// overLimit reports whether a prompt over the hard limit is what made the window due.
func (c *candidate) overLimit(limits *meter.Limits) bool {
	return c.trigger == record.TriggerTokens && c.prompt.AtMost >= limits.HardLimit
}

// findDue finds the next window that is due, in any branch. A checkpoint that the model asked for goes
// first: another window would take its events. Then comes the invocation trigger: it takes whole turns,
// and what it summarizes makes the prompt smaller as well.
func (s *snapshot) findDue() candidate {
	if s.ahead {
		return s.follows
	}
	for _, asked := range s.asked {
		if !asked.Empty() {
			return checkpointOf(asked)
		}
	}
	params := s.params
	if s.job.Forced && s.job.Extractive {
		params.MinTokens = nil // a model's summary was not shorter; this one will be, or is not stored
	}
	missing := math.MaxInt
	blocked := candidate{Relief: selector.Relief{Selection: selector.Selection{Reason: selector.NotDue}}}
	for _, branch := range s.branches {
		sel := s.invocations(params, branch)
		if !sel.Empty() {
			return candidate{Relief: selector.Relief{Selection: sel}, trigger: record.TriggerInvocations, missing: -1}
		}
		if sel.Reason == selector.NotDue {
			missing = min(missing, sel.Missing)
			continue
		}
		missing = min(missing, 1)
		blocked = candidate{Relief: selector.Relief{Selection: sel}, trigger: record.TriggerInvocations}
	}
	if params.Threshold == 0 { // nothing was found out: the trigger may come back with another model
		missing = -1
	}
	for _, reader := range s.branches {
		size, due := s.measure(reader)
		if !due && s.paying != nil && s.paying.reader == reader && !s.job.Forced {
			if rest := s.rest(params, size); !rest.Empty() {
				rest.missing = missing
				return rest
			}
		}
		if !due && !(s.job.Forced && size.AtMost >= s.limits.HardLimit) {
			continue
		}
		byPrice := size.Economy.Due() && !s.job.Forced && (s.limits.Threshold == 0 || size.Likely < s.limits.Threshold)
		if params.RetainTokens = s.params.RetainTokens; byPrice {
			params.RetainTokens = size.Retain
		}
		c := candidate{
			Relief:  selector.Relieve(s.input, params, s.branches, reader, s.mustFree(size.Likely)),
			trigger: record.TriggerTokens, reader: reader, prompt: size, atLimitOnly: !due, missing: missing, byPrice: byPrice,
		}
		if s.tooDear(&c) {
			c.Selection = selector.Selection{Reason: doesNotPay}
		}
		if !c.Empty() {
			return c
		}
		if blocked.prompt.AtMost < s.limits.HardLimit { // nothing is more urgent than a prompt over the hard limit
			blocked = c
		}
	}
	blocked.missing = missing
	return blocked
}

// doesNotPay is why a window is not summarized although the economical trigger is due.
const doesNotPay selector.Reason = "what may be summarized is not worth the price of a summary"

// tooDear reports whether only the economical trigger is due, and not for so small a window. A window that the
// summarizer cannot read in one call is judged as a whole: the rest follows, see rest.
func (s *snapshot) tooDear(c *candidate) bool {
	if !c.byPrice || c.Empty() {
		return false
	}
	window := c.Tokens
	if c.Cut {
		params := s.params
		params.MaxTokens, params.RetainTokens = 0, c.prompt.Retain
		window = selector.Tokens(s.input, params, c.Branch).Tokens
	}
	return !c.prompt.PaysFor(window)
}

// rest is the next window of what the economical trigger began with, empty if too little is left of it to be worth a
// summary. prompt is the size of the prompt now.
func (s *snapshot) rest(params selector.Params, prompt meter.Prompt) candidate {
	c := *s.paying
	prompt.Economy, prompt.Retain = c.prompt.Economy, c.prompt.Retain
	c.prompt, params.RetainTokens = prompt, prompt.Retain
	c.Relief = selector.Relieve(s.input, params, s.branches, c.reader, 0)
	if !c.Cut && c.Tokens < c.prompt.Economy.MinWindow {
		c.Relief = selector.Relief{}
	}
	return c
}

// invocations selects for the invocation trigger. After failures it takes less at a time, down to
// an eighth of what the summarizer says it can read: it may know its own limit wrong, and windows
// that only grow would fail for ever.
func (s *snapshot) invocations(params selector.Params, branch string) selector.Selection {
	smaller := params
	smaller.MaxTokens >>= min(s.failures, 3)
	sel := selector.Invocations(s.input, smaller, branch)
	if sel.Reason == selector.TooLarge {
		return selector.Invocations(s.input, params, branch)
	}
	return sel
}

// behind is the window that is due once the window of c is summarized, as far as that is certain without a look at the
// session; an empty one otherwise. By turns, it is what the trigger selects next. By tokens, the trigger must select more
// than the summarizer reads in one call, and the prompt must still be, by estimate, as large as what made the first window
// due. A window that pays goes on until the rest is summarized too, see rest.
func (s *snapshot) behind(c candidate) candidate {
	c.Selection, c.missing = c.Next(), -1
	switch c.trigger {
	case record.TriggerInvocations:
		return c
	case record.TriggerTokens:
		least := s.limits.HardLimit
		if s.limits.Threshold > 0 && !c.atLimitOnly {
			least = s.limits.Threshold
		}
		if c.Cut && (c.byPrice || c.prompt.Likely >= least) {
			return c
		}
	}
	return candidate{Relief: selector.Relief{Selection: selector.Selection{Reason: selector.NotDue}}}
}

// mustFree is how many tokens a compaction must free at least that the hard limit forces, 0 for any
// other. It aims at the threshold: one that stopped just below the hard limit would be due again
// with the next event.
func (s *snapshot) mustFree(prompt int) int {
	if !s.job.Forced {
		return 0
	}
	target := s.limits.HardLimit
	if s.limits.Threshold > 0 {
		target = s.limits.Threshold
	}
	return max(1, prompt-target+s.limits.SummaryTokens)
}
