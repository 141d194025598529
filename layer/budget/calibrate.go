package budget

import (
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

const (
	// estimateErrorDivisor gives the error of estimates: one part in so many, as in package
	// compaction.
	estimateErrorDivisor = 10
	// recentCounts is how many counts a fit goes by. Tools, instructions and models change.
	recentCounts = 30
	// leastShare is the least share of its estimate that the count of a whole prompt can be. Estimates
	// agree with real tokenizers within a fifth, summed up over a session. A server that cuts prompts
	// silently reports about half (Ollama: itayinbarr/little-coder #128, ollama/ollama #3839).
	leastShare = 0.6
	// leeway is by how many tokens a count may be lower or higher still, so that short prompts are not
	// judged.
	leeway = 64
	// countsToClear is how many counts in a row must be believed before a misreport may be reported
	// again.
	countsToClear = 5
)

// verdict is whether a provider's count can be that of the request that was sent.
type verdict int

const (
	believed   verdict = iota
	missing            // the provider has counted nothing
	tooLow             // the server has read less than it was sent, or reports a part of it
	tooHigh            // the count has grown by more than the request
	impossible         // a prompt of that size could not have been answered
)

// calibration is what a provider's counts teach about one agent's requests. All estimates are of whole
// requests: contents, instruction and tools.
type calibration struct {
	model string // whose counts these are
	fit   promptsize.Fit
	// estimate and counted are those of the last request whose count was believed; counted is 0 if
	// there is none.
	estimate, counted int
	// The last count that was not believed because it was too high. If the next one agrees with it,
	// something has changed for good, and calibration begins anew.
	doubted, doubtedEstimate int

	lows, highs, good         int // counts in a row
	cutReported, highReported bool
}

// expect is the size of a request with an estimate, and bounds for it: what was added or removed since the
// last count may be off, see [promptsize.Margin]. Without any count, atLeast is 0.
func (k *calibration) expect(name string, estimate int) (likely, atMost, atLeast int) {
	if k.counted == 0 || k.model != name {
		return estimate, estimate + estimate/estimateErrorDivisor, 0
	}
	line := k.fit.LineNear(k.estimate, k.counted)
	likely = max(line.Of(estimate), estimate/promptsize.MaxRatio)
	margin := promptsize.Margin(k.counted, likely-k.counted)
	return likely, likely + margin, max(0, likely-margin)
}

// take takes in the count of a request, in a window of that many tokens.
func (k *calibration) take(name string, estimate, counted, window int) verdict {
	if k.model != name {
		*k = calibration{model: name}
	}
	v := k.judge(estimate, counted, window)
	switch v {
	case missing:
		return v
	case tooLow:
		k.lows, k.good = k.lows+1, 0
		return v
	case impossible:
		k.highs, k.lows, k.good, k.doubted = k.highs+1, 0, 0, 0
		return v
	case tooHigh:
		k.lows, k.good = 0, 0
		k.highs++
		if !k.agrees(estimate, counted) {
			if k.highs > 1 {
				// Several such counts that do not agree are a running total. The counts that were
				// believed before were part of it.
				k.fit, k.counted = promptsize.Fit{}, 0
			}
			k.doubted, k.doubtedEstimate = counted, estimate
			return v
		}
		k.fit = promptsize.Fit{}
		k.fit.Add(k.doubtedEstimate, k.doubted)
	}
	k.fit.Fade(recentCounts - 1)
	k.fit.Add(estimate, counted)
	k.estimate, k.counted = estimate, counted
	k.lows, k.highs, k.doubted, k.good = 0, 0, 0, k.good+1
	return believed
}

// judge compares a count with the estimate of its request, and with the last count that was believed.
func (k *calibration) judge(estimate, counted, window int) verdict {
	generous := promptsize.MaxRatio*estimate + leeway
	switch {
	case counted <= 0:
		return missing
	case float64(counted+leeway) < leastShare*float64(estimate):
		return tooLow
	case counted > generous && counted > window:
		return impossible
	case k.counted > 0 && counted-k.counted > int(leastShare*float64(k.counted)) && outgrows(k.estimate, k.counted, estimate, counted, leeway):
		return tooHigh // a running total grows by a whole prompt
	case k.highs > 1 && k.counted == 0 && counted > generous:
		return tooHigh // after a running total, the first count that is believed must be plausible
	}
	return believed
}

// agrees reports whether a count goes on from the last one that was not believed.
func (k *calibration) agrees(estimate, counted int) bool {
	return k.doubted > 0 && counted+leeway >= k.doubted && !outgrows(k.doubtedEstimate, k.doubted, estimate, counted, estimate/4+leeway)
}

// outgrows reports whether a count has grown by more than twice as much as the request since an earlier
// count, and by more than some tokens.
func outgrows(estimateBefore, countedBefore, estimate, counted, tokens int) bool {
	return counted-countedBefore > promptsize.MaxRatio*max(0, estimate-estimateBefore)+tokens
}

// countOf is how many tokens a provider counted for a prompt, cached ones included, 0 for none. Some
// adapters leave the cached part out of the prompt. It is added if the prompt is too small to be believed
// without it.
func countOf(usage *genai.GenerateContentResponseUsageMetadata, estimate int) int {
	if usage == nil || usage.PromptTokenCount < 0 {
		return 0
	}
	count, cached := int(usage.PromptTokenCount), max(0, int(usage.CachedContentTokenCount))
	if float64(count+leeway) < leastShare*float64(estimate) {
		count += cached
	}
	return count
}

// answer is what is known of the answer to one request.
type answer struct {
	usage          *genai.GenerateContentResponseUsageMetadata // the last that was reported
	whole, partial int                                         // estimated tokens
}

// add takes in the next response of the model.
func (a *answer) add(resp *model.LLMResponse) {
	if resp == nil {
		return
	}
	if resp.UsageMetadata != nil {
		a.usage = resp.UsageMetadata
	}
	if resp.Content == nil {
		return
	}
	size := promptsize.OfContent(resp.Content)
	if resp.Partial {
		a.partial += size
	} else {
		a.whole += size
	}
}

// size is the estimate of what the answer takes up in later requests.
func (a answer) size() int {
	if a.whole > 0 {
		return a.whole
	}
	return a.partial
}

// output is how many tokens the model has written, thoughts included.
func (a answer) output() int {
	if a.usage != nil {
		if n := max(0, int(a.usage.CandidatesTokenCount)) + max(0, int(a.usage.ThoughtsTokenCount)); n > 0 {
			return n
		}
	}
	return a.size()
}
