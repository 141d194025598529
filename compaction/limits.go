package compaction

import (
	"cmp"
	"context"
	"math"

	"github.com/adk-go-ext/longsession/tokens"
)

// limits are the prompt sizes, in tokens, that follow from the model of an agent.
type limits struct {
	model string
	// assumed says that no table knows the model, and nobody its context window.
	assumed bool
	// window is the context window, and reply what is reserved in it for the reply.
	window, reply int
	// threshold is the prompt size that makes the token trigger due; 0 where it is off.
	threshold int
	// limit is the prompt size that forces a compaction before the next prompt.
	limit int
	// most is the prompt size beyond which a provider refuses: the context window, less MaxOutputTokens
	// only if the caller set it. A reserve by default is given up before a session is.
	most int
	// slack is what lies between limit and the end of the effective window. At the limit a window that
	// frees less is not worth a call for every event that comes in.
	slack int
	// summaryTokens is how long a summary is asked to be: MaxSummaryTokens, or less where as many
	// summaries as may be shown would otherwise fill the prompt by themselves.
	summaryTokens int
	// allSummaries is what the summaries of a branch may take up together; one that exceeds it is cut.
	allSummaries int
}

// limitsOf derives the limits for an agent's model. Where the policy's numbers do not fit the model's
// window, they give way; newPolicy refuses those that could not fit from the start.
func (p *policy) limitsOf(model string) *limits {
	known, ok := p.Registry.Lookup(model)
	l := &limits{
		model:   model,
		assumed: !ok && p.ContextWindow == 0,
		window:  cmp.Or(p.ContextWindow, known.ContextWindow, tokens.DefaultContextWindow),
	}
	l.most = l.window
	switch roomy := p.MaxOutputTokens <= l.window/2; {
	case p.MaxOutputTokens < 0:
	case p.MaxOutputTokens > 0 && (roomy || p.fixed()):
		l.reply = p.MaxOutputTokens
		l.most -= l.reply
	default:
		l.reply = min(cmp.Or(known.MaxOutputTokens, defaultReply), int(replyShare*float64(l.window)))
	}
	effective := l.window - l.reply
	l.limit = int(hardLimit * float64(effective))
	l.slack = effective - l.limit
	if share := p.share(l.window); share > 0 {
		l.threshold = min(share, l.limit)
	}
	if p.TokenThreshold > 0 {
		l.threshold = min(p.TokenThreshold, cmp.Or(l.threshold, l.limit))
	}
	room := cmp.Or(l.threshold, l.limit)
	l.summaryTokens = min(p.MaxSummaryTokens, max(minSummary, room/2/p.MaxSummaries))
	l.allSummaries = int(summariesShare * float64(l.limit))
	return l
}

// fixed reports whether the context window stays what it is, so that newPolicy can hold other numbers
// against it.
func (p *policy) fixed() bool { return p.AgentModelFunc == nil || p.ContextWindow > 0 }

// share is the prompt size that SafetyRatio allows in a window, 0 if it is off.
func (p *policy) share(window int) int { return int(math.Ceil(p.SafetyRatio * float64(window))) }

// limits are those for the model that the session's agent last had.
func (s *CompactionSessionService) limits(st *sessionState) *limits {
	if l := st.limits.Load(); l != nil {
		return l
	}
	return s.policy.limits
}

// followModel brings a session's limits up to date with Config.AgentModelFunc. A function that panics
// changes nothing.
func (s *CompactionSessionService) followModel(ctx context.Context, st *sessionState) {
	if s.policy.AgentModelFunc == nil {
		return
	}
	defer func() { _ = recover() }()
	model := s.policy.AgentModelFunc(ctx, st.ref)
	if model == "" || model == s.limits(st).model {
		return
	}
	l := s.policy.limitsOf(model)
	st.limits.Store(l)
	s.reportAssumed(ctx, l)
}
