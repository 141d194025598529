package compaction

import (
	"context"
	"fmt"
	"log/slog"
	"math"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// leastShare is the least share of the estimate that a provider's count of a prompt is believed to be.
// Estimates agree with real tokenizers within a fifth, summed up over a session (package tokens), and
// the instructions and tools come on top. A count below that is of something else: a prompt without its
// cached part, the last chunk of a stream, or an agent that is shown little of the history.
const leastShare = 0.8

// belief is whether a provider's count can be that of the prompt which was estimated.
type belief int

const (
	believed belief = iota
	// tooLow: it counts for nothing. The estimate, or a believed count of before, holds.
	tooLow
	// tooHigh: even with no history at all such a prompt would be over the hard limit. So the count is
	// wrong, or the instructions are too long by themselves, and in neither case could a compaction help.
	tooHigh
)

// count is the tokens of the prompt that led to an agent's event in the branch, as the provider reports
// it, and whether it reports any. What a remote agent reports is of its own prompts. Some adapters leave
// the cached part out of the prompt: a cached count that is larger than the prompt, or without which
// the prompt would be too low to be believed, is added.
func count(ev *session.Event, branch string, estimate int) (tokens int, reported bool) {
	usage := ev.UsageMetadata
	if ev.Branch != branch || adk.Classify(ev).Any(adk.ByUser|adk.Remote) || usage == nil || usage.PromptTokenCount <= 0 {
		return 0, false
	}
	tokens, cached := int(usage.PromptTokenCount), max(0, int(usage.CachedContentTokenCount))
	if cached > tokens || isLow(tokens, estimate) {
		tokens += cached
	}
	return tokens, true
}

// lowSlack is by how many tokens a count may be below that, so that short prompts are not judged.
const lowSlack = 64

func isLow(tokens, estimate int) bool { return float64(tokens+lowSlack) < leastShare*float64(estimate) }

// judge compares a count with the estimate of its prompt. limit is the hard limit.
func judge(tokens, estimate, limit int) belief {
	switch {
	case isLow(tokens, estimate):
		return tooLow
	case tokens-maxRatio*estimate >= limit:
		return tooHigh
	default:
		return believed
	}
}

// outputOf is what an agent's event takes up in later prompts, as the provider counted it or, where that
// cannot be, estimated. Some adapters report a stream's first chunk only, others count thoughts that
// no prompt holds.
func outputOf(ev *session.Event) int {
	output, size := int(ev.UsageMetadata.CandidatesTokenCount), promptsize.OfEvent(ev)
	if output < size/2 || output > maxRatio*size+lowSlack {
		return size
	}
	return output
}

// doubts are what was told of the counts of an agent's prompts.
type doubts struct {
	told     [tooHigh + 1]bool
	believed int // counts in a row since
}

// senses is how many counts in a row must be believed before what was told may be told again. Two models
// that take turns under one name would otherwise be told of in every turn.
const senses = 5

// next takes in the verdict on a count and reports whether it is to be told.
func (d *doubts) next(verdict belief) (news bool) {
	if verdict == believed {
		if d.believed++; d.believed >= senses {
			*d = doubts{}
		}
		return false
	}
	news = !d.told[verdict]
	d.told[verdict], d.believed = true, 0
	return news
}

// checkReport says once for an agent of a session that the provider's counts cannot be right, and again
// after some that are believed.
func (s *CompactionSessionService) checkReport(ctx context.Context, h *handle, ev *session.Event) {
	tokens, estimate, verdict, reported := h.meter.judge(h, ev)
	if !reported {
		return
	}
	st := h.state
	if !st.prompts.doubt(ev.Author, verdict) {
		return
	}
	attrs := []slog.Attr{slog.Int("reported", tokens), slog.Int("estimated", estimate), slog.String("agent", ev.Author)}
	if verdict == tooLow {
		// It may be an agent that is shown little, which is in order.
		s.policy.reporter.LogAbout(ctx, slog.LevelInfo, telemetry.Session(st.ref), "a prompt is counted far below its estimate: the estimate is followed", attrs...)
		return
	}
	s.policy.reporter.LogAbout(ctx, slog.LevelWarn, telemetry.Session(st.ref), "a prompt is counted at more than a compaction could change: the estimate is followed", attrs...)
	s.policy.reporter.Observe(ctx, telemetry.Observation{
		Outcome: telemetry.Misreported, Session: telemetry.Session(st.ref), Branch: ev.Branch, InvocationID: ev.InvocationID, TokensBefore: estimate,
		Reason: fmt.Sprintf("the provider counts %d tokens for a prompt of %s that is estimated at %d: instructions alone would exceed the hard limit of %d",
			tokens, ev.Author, estimate, s.limits(st).limit),
	})
}

// sent is what a request held when it was last seen on its way to the model; see ObserveRequest. All in
// estimated tokens.
type sent struct {
	// view is the view that the request was made from, contents what was left of it, and fixed the
	// instructions and tools.
	view, contents, fixed int
}

// of is what is expected to be left of a view of that estimate. What was added since is shown whole;
// of a view that has shrunk, the same share as before.
func (s *sent) of(estimate int) int {
	switch {
	case s == nil || s.view <= 0:
		return estimate
	case estimate >= s.view:
		return s.contents + estimate - s.view
	default:
		return int(math.Ceil(float64(s.contents) / float64(s.view) * float64(estimate)))
	}
}

// share is how much of a view reaches the model, at most all.
func (s *sent) share(estimate int) float64 {
	if s == nil || estimate <= 0 {
		return 1
	}
	return min(1, float64(s.of(estimate))/float64(estimate))
}
