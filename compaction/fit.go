package compaction

import "math"

const (
	// maxRatio bounds how many tokens one estimated token is taken to be. Claude's own counts of coding
	// sessions came to 1.2 to 1.5 times the estimate; more than twice is something else.
	maxRatio = 2
	// sure is how well a ratio must be known to be used: its standard error.
	sure = 0.1
	// minReports is how many reports it takes to tell a line from noise.
	minReports = 3
	// recentReports is how many reports count. Tools, instructions and models change.
	recentReports = 30
	// silence is how many compactions an agent is remembered for that reports no more: it may have gone, and
	// its instructions and tools must not be counted in for ever.
	silence = 5
)

// fit is the line through what the provider counted for an agent's prompts, over the estimate of the view
// that each was made of: reported = overhead + ratio x estimate. The overhead is the system prompt and the
// tools, the ratio the estimate's own error. The zero value takes the estimate as it is.
type fit struct {
	n, x, y, xx, xy, yy float64
	// silent is for how many compactions in a row others have reported, and this agent has not.
	silent int
}

// add takes in one report. Earlier ones fade.
func (f *fit) add(estimate, reported int) {
	if f.n > recentReports-1 {
		fade := (recentReports - 1) / f.n
		for _, sum := range []*float64{&f.n, &f.x, &f.y, &f.xx, &f.xy, &f.yy} {
			*sum *= fade
		}
	}
	x, y := float64(estimate), float64(reported)
	f.n++
	f.x += x
	f.y += y
	f.xx += x * x
	f.xy += x * y
	f.yy += y * y
}

// little reports whether the agent is shown little of the history.
func (f fit) little() bool { return f.y < f.x/2 }

// line is the least squares line. It never takes a prompt to be smaller than its estimate: an agent that is
// shown little of the history reports little, and another may be shown all of it.
func (f fit) line() (ratio, overhead float64) {
	if f.n == 0 {
		return 1, 0
	}
	meanX, meanY := f.x/f.n, f.y/f.n
	ratio = 1
	if slope, ok := f.slope(meanX, meanY); ok {
		ratio = min(maxRatio, max(1, slope))
	}
	return ratio, max(0, meanY-ratio*meanX)
}

// slope is that of the line, and whether the reports are enough, and far enough apart for how much they
// scatter, to tell.
func (f fit) slope(meanX, meanY float64) (slope float64, known bool) {
	spread := f.xx - f.n*meanX*meanX
	if f.n < minReports || spread <= 0 {
		return 0, false
	}
	slope = (f.xy - f.n*meanX*meanY) / spread
	scatter := max(0, f.yy-f.n*meanY*meanY-slope*slope*spread) / (f.n - 2)
	return slope, math.Sqrt(scatter/spread) <= sure
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
