package budget

import (
	"context"
	"fmt"
	"log/slog"
)

// reported takes in the answer to a request, once the model has answered without an error: the tracker
// counts it, and the provider's count corrects later estimates.
func (m *Meter) reported(ctx context.Context, c caller, got measured, a answer) {
	if !c.known() {
		return
	}
	estimate := got.estimate()
	count := countOf(a.usage, estimate)
	s := m.stateOf(c)
	s.mu.Lock()
	k := &s.calibration
	v := k.take(c.model, estimate, count, got.Total)
	news, isNews := k.news(v)
	used := got.UsedTokens()
	if v == believed {
		used = count
		s.last.budget = got.sized(count)
	}
	added := int(s.last.ratio * float64(a.size()))
	s.last.used = used + added
	s.mu.Unlock()

	m.Tracker(c.ref).answered(c.invocation, max(used, 0), a.output(), added, v != believed, s.lastBudget())
	if isNews {
		m.announce(ctx, c, news, count, estimate)
	}
}

func (s *state) lastBudget() Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.budget
}

// change is a change of what a provider's counts are worth.
type change int

const (
	cutBegins change = iota
	cutEnds
	misreportBegins
)

// lowsToReport is how many low counts in a row mean that the server cuts prompts: one may be a stream
// that reports only its first part.
const lowsToReport = 2

// news returns what a verdict changes, if anything.
func (k *calibration) news(v verdict) (change, bool) {
	switch {
	case v == tooLow && k.lows >= lowsToReport && !k.cutReported:
		k.cutReported = true
		return cutBegins, true
	case v == believed && k.cutReported:
		k.cutReported = false
		return cutEnds, true
	case (v == impossible || v == tooHigh && k.highs > 1) && !k.highReported:
		k.highReported = true
		return misreportBegins, true
	case k.good >= countsToClear:
		k.highReported = false
	}
	return 0, false
}

// announce logs a change and passes it on to the observer, except for the end of cuts, which is only logged.
func (m *Meter) announce(ctx context.Context, c caller, news change, count, estimate int) {
	attrs := []slog.Attr{slog.Int("reported", count), slog.Int("estimated", estimate)}
	o := c.observation(Misreported)
	switch news {
	case cutEnds:
		m.log(ctx, slog.LevelInfo, "prompts are counted in full again", c, attrs...)
		return
	case cutBegins:
		o.Kind = CutByServer
		o.Reason = fmt.Sprintf("the provider counted %d tokens of about %d: the server may drop the beginning of prompts; raise its context size, or lower ContextWindow", count, estimate)
		m.log(ctx, slog.LevelWarn, "the server seems to cut prompts silently: raise its context size, or lower ContextWindow", c, attrs...)
	default:
		o.Reason = fmt.Sprintf("the provider counted %d tokens for a prompt of about %d; the estimate is followed", count, estimate)
		m.log(ctx, slog.LevelWarn, "a prompt is counted far too high: the estimate is followed", c, attrs...)
	}
	o.Counted, o.Estimated = count, estimate
	m.observe(ctx, o)
}
