package compaction

import "math"

const (
	// maxRatio bounds how many tokens one estimated token is taken to be. Claude's own counts of coding
	// sessions came to 1.2 to 1.5 times the estimate; more than twice is something else.
	maxRatio = 2
	// minSpread is how far apart prompts must be, in tokens (standard deviation), for the ratio to be
	// read from them: between prompts of like size the noise is larger than the slope.
	minSpread = 1000
	// minReports is how many reports a ratio takes.
	minReports = 3
	// fading is what earlier reports still count after a compaction: tools, instructions and models change.
	fading = 0.5
)

// fit is the line through what the provider counted for an agent's prompts, over the estimate of the view
// that each was made of: reported = overhead + ratio x estimate. The overhead is the system prompt and the
// tools, the ratio the estimate's own error. The zero value takes the estimate as it is.
type fit struct{ n, x, y, xx, xy float64 }

// add takes in one report.
func (f *fit) add(estimate, reported int) {
	x, y := float64(estimate), float64(reported)
	f.n++
	f.x += x
	f.y += y
	f.xx += x * x
	f.xy += x * y
}

// fade makes what was learned count less than what comes.
func (f *fit) fade() {
	f.n *= fading
	f.x *= fading
	f.y *= fading
	f.xx *= fading
	f.xy *= fading
}

// line is the least squares line. It never takes a prompt to be smaller than its estimate: an agent that is
// shown little of the history reports little, and another may be shown all of it.
func (f fit) line() (ratio, overhead float64) {
	if f.n == 0 {
		return 1, 0
	}
	meanX, meanY := f.x/f.n, f.y/f.n
	ratio = 1
	if spread := f.xx/f.n - meanX*meanX; f.n >= minReports && spread >= minSpread*minSpread {
		ratio = min(maxRatio, max(1, (f.xy/f.n-meanX*meanY)/spread))
	}
	return ratio, max(0, meanY-ratio*meanX)
}

// of is what a prompt of that estimate is expected to be counted.
func (f fit) of(estimate int) int {
	ratio, overhead := f.line()
	return int(math.Ceil(overhead + ratio*float64(estimate)))
}

// more is what an estimate adds to a prompt.
func (f fit) more(estimate int) int {
	ratio, _ := f.line()
	return int(math.Ceil(ratio * float64(estimate)))
}
