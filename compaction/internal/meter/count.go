package meter

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// leastShare is the least share of its estimate that a provider's count of a prompt is believed to
// be. Estimates agree with real tokenizers within a fifth, summed up over a session (package
// tokens), and instructions and tools come on top. A lower count is of something else: a prompt
// without its cached part, the last chunk of a stream, or an agent that is shown little of the
// history.
const leastShare = 0.8

// leeway is by how many tokens a count may be lower still, so that short prompts are not judged.
const leeway = 64

// verdict is whether a provider's count can be that of the prompt which was estimated.
type verdict int

const (
	believed verdict = iota
	// tooLow: the count is ignored. The estimate, or a believed count from before, holds.
	tooLow
	// tooHigh: with no history at all, such a prompt would still be over the hard limit. Either the
	// count is wrong or the instructions alone are too long, and a compaction could help in neither
	// case.
	tooHigh
)

// countOf is how many tokens the provider counted for the prompt that led to an agent's event in
// the branch, and whether it counted any. A remote agent's counts are of its own prompts, so they
// do not matter. Some adapters leave the cached part out of the prompt; countOf adds it where it is
// larger than the prompt, or where the prompt would be too low to be believed without it.
func countOf(ev *session.Event, class adk.Class, branch string, estimate int) (count int, reported bool) {
	usage := ev.UsageMetadata
	if adk.Lane(ev) != branch || class.Any(adk.ByUser|adk.Remote) || usage == nil || usage.PromptTokenCount <= 0 {
		return 0, false
	}
	count, cached := int(usage.PromptTokenCount), max(0, int(usage.CachedContentTokenCount))
	if cached > count || isLow(count, estimate) {
		count += cached
	}
	return count, true
}

func isLow(count, estimate int) bool { return float64(count+leeway) < leastShare*float64(estimate) }

// judge compares a count with the estimate of its prompt.
func judge(count, estimate, hardLimit int) verdict {
	switch {
	case isLow(count, estimate):
		return tooLow
	case count-promptsize.MaxRatio*estimate >= hardLimit:
		return tooHigh
	default:
		return believed
	}
}

// outputOf is what an agent's event takes up in later prompts: as the provider counted it, or as estimated
// where that count cannot be right. Some adapters report a stream's first chunk only, others count thoughts
// that no prompt holds.
func outputOf(ev *session.Event, line promptsize.Line) (counted, estimated int) {
	output, size := int(ev.UsageMetadata.CandidatesTokenCount), promptsize.OfEvent(ev)
	if output < size/2 || output > promptsize.MaxRatio*size+leeway {
		return 0, line.More(size)
	}
	return output, 0
}

// Misreport is a provider's count that cannot be that of the prompt which was estimated.
type Misreport struct {
	Counted, Estimated int
	// TooHigh says that a compaction could not bring such a prompt under the hard limit. Otherwise
	// the count is too low, which is in order for an agent that is shown little.
	TooHigh bool
}

// doubts are the misreports of one agent that were reported.
type doubts struct {
	reported [tooHigh + 1]bool
	believed int // counts in a row since
}

// countsToClear is how many counts in a row must be believed before a misreport may be reported
// again. Two models that take turns under one name would otherwise be reported in every turn.
const countsToClear = 5

// isNews takes in the verdict on a count and reports whether it is to be reported.
func (d *doubts) isNews(v verdict) bool {
	if v == believed {
		if d.believed++; d.believed >= countsToClear {
			*d = doubts{}
		}
		return false
	}
	news := !d.reported[v]
	d.reported[v], d.believed = true, 0
	return news
}
