package promptsize

import "math"

const (
	// MaxRatio bounds the ratio of counted to estimated tokens. Claude's own counts of coding
	// sessions are 1.1 to 1.5 times the estimate. A ratio over two has another cause: images, or
	// messages that are not in the session.
	MaxRatio = 2
	// maxSlopeStdErr is the largest standard error with which a ratio is used.
	maxSlopeStdErr = 0.1
	// minCounts is how many counts it takes to distinguish a line from noise.
	minCounts = 3
)

const (
	changeErrorDivisor = 4  // what was added or removed since a count may be off by one part in so many
	countErrorDivisor  = 80 // what apps and providers add to prompts varies by one part in so many
	leeway             = 64 // and by so many tokens
)

// Margin is how many tokens more, or less, a prompt may have than is expected of it, given a provider's
// count of an earlier prompt of the agent, and by how many tokens it is expected to have changed since. A
// margin of a tenth of the change was exceeded by every other count of recorded sessions: messages were
// sent that nobody recorded. This one is exceeded by one in a hundred.
func Margin(counted, change int) int {
	return max(change, -change)/changeErrorDivisor + counted/countErrorDivisor + leeway
}

// Line is how a provider counts prompts: Overhead + Ratio × the estimate of their contents. The
// overhead is the system prompt and the tools; the ratio corrects the estimate.
type Line struct {
	Ratio, Overhead float64
	// Assumed means that [Fit.Line] took the ratio for 1, because the counts are too few or too scattered to
	// determine it.
	Assumed bool
}

// Of is the expected count of a prompt of that estimate, rounded up.
func (l Line) Of(estimate int) int { return int(math.Ceil(l.Overhead + l.Ratio*float64(estimate))) }

// More is how much an estimate adds to the count of a prompt, rounded up.
func (l Line) More(estimate int) int { return int(math.Ceil(l.Ratio * float64(estimate))) }

// Fit fits lines to what a provider counted for prompts. For prompts with estimates of 1,000, 4,000
// and 9,000 tokens, counted as 4,500, 9,000 and 16,500, it finds an overhead of 3,000 and a ratio
// of 1.5. The zero value has no counts, and takes estimates as they are.
type Fit struct {
	n, x, y, xx, xy, yy float64 // weighted sums: x is of estimates, y of counts
}

// Add takes in the count of one prompt.
func (f *Fit) Add(estimate, counted int) {
	x, y := float64(estimate), float64(counted)
	f.n++
	f.x += x
	f.y += y
	f.xx += x * x
	f.xy += x * y
	f.yy += y * y
}

// Fade caps the total weight of the counts so far at most.
func (f *Fit) Fade(most float64) {
	if f.n <= most {
		return
	}
	fade := most / f.n
	for _, sum := range []*float64{&f.n, &f.x, &f.y, &f.xx, &f.xy, &f.yy} {
		*sum *= fade
	}
}

// Weight is the number of counts in the fit, less those that faded.
func (f Fit) Weight() float64 { return f.n }

// Undercounts reports whether the counts are less than half of the estimates. The prompts then held
// only a small part of the estimated text.
func (f Fit) Undercounts() bool { return f.y < f.x/2 }

// Line is the line of least squares, for predicting prompts that must not grow too large. Its ratio
// is at least 1, so it never predicts less than the estimate.
func (f Fit) Line() Line {
	if f.n == 0 {
		return Line{Ratio: 1, Assumed: true}
	}
	meanX, meanY := f.x/f.n, f.y/f.n
	ratio, assumed := 1.0, true
	if slope, spread := f.through(meanX, meanY); f.n >= minCounts && spread > 0 {
		scatter := max(0, f.yy-f.n*meanY*meanY-slope*slope*spread) / (f.n - 2)
		if math.Sqrt(scatter/spread) <= maxSlopeStdErr {
			ratio, assumed = min(MaxRatio, max(1, slope)), false
		}
	}
	return Line{Ratio: ratio, Overhead: max(0, meanY-ratio*meanX), Assumed: assumed}
}

// LineThrough is the line of least squares through one of the counts, for reproducing a recording.
// Its ratio is at least half.
func (f Fit) LineThrough(estimate, counted int) Line {
	x, y := float64(estimate), float64(counted)
	ratio := 1.0
	if slope, spread := f.through(x, y); spread > 0 {
		ratio = min(MaxRatio, max(1.0/MaxRatio, slope))
	}
	return Line{Ratio: ratio, Overhead: max(0, y-ratio*x)}
}

// through returns the slope of the line of least squares through a point, and the spread of the
// estimates around that point: the sum of their squared distances, or 0 if that is less than 1.
func (f Fit) through(x, y float64) (slope, spread float64) {
	spread = f.xx - 2*x*f.x + x*x*f.n
	if spread < 1 {
		return 1, 0
	}
	return (f.xy - x*f.y - y*f.x + x*y*f.n) / spread, spread
}

const (
	// maxTokenizerRatio is the largest ratio of counted to estimated tokens that a tokenizer alone explains.
	// What is counted beyond it is fixed: a provider may add instructions and tools that no request has.
	maxTokenizerRatio = 1.5
	// usualRatio is the ratio where such a fixed part hides it: between that of o200k and Gemma, 1, and of
	// Claude, 1.5.
	usualRatio = 1.25
	// ratioStdDev is how far ratios of real tokenizers to estimates lie from the ratio of a whole count
	// to its estimate: the overhead of a prompt is not known.
	ratioStdDev = 0.3
	// assumedError is the error of counts, as a share, that is assumed until counts show it, with the
	// weight of assumedWeight counts. Few counts lie on a line by chance.
	assumedError  = 0.01
	assumedWeight = 0.05
)

// LineNear is the line through the latest count that predicts the next prompts best, larger or smaller. Its
// ratio may be below 1. It begins as the ratio of the latest count to its estimate, as if there were no
// overhead, or as 1.25 if no tokenizer has that ratio. It follows the line of least squares the more, the wider
// the estimates spread and the better the counts lie on that line. For counts of 3,000, 4,000 and 5,000 for
// estimates of 1,000, 2,000 and 3,000, the ratio is 1.00.
func (f Fit) LineNear(estimate, counted int) Line {
	if estimate <= 0 {
		return Line{Ratio: 1, Overhead: float64(max(0, counted))}
	}
	x, y := float64(estimate), float64(counted)
	ratio := y / x
	if ratio > maxTokenizerRatio {
		ratio = usualRatio // the rest is a fixed part that the estimate lacks
	}
	if slope, spread := f.through(x, y); spread > 0 && f.n >= minCounts {
		// The squared distances of the counts from the line.
		residual := max(0, f.yy-2*y*f.y+y*y*f.n-slope*slope*spread)
		assumed := assumedError * y
		variance := (residual + assumedWeight*assumed*assumed) / f.n
		prior := variance / (ratioStdDev * ratioStdDev)
		ratio = (slope*spread + ratio*prior) / (spread + prior)
	}
	ratio = min(MaxRatio, max(1.0/MaxRatio, ratio))
	return Line{Ratio: ratio, Overhead: y - ratio*x}
}
