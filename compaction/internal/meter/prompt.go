package meter

import "math"

// estimateErrorDivisor gives the error of a prompt that no provider has counted: one part in so many. It is
// that of each kind of text, see package tokens.
const estimateErrorDivisor = 10

// PlusError is a size with the error that its estimate may have.
func PlusError(size int) int { return size + size/estimateErrorDivisor }

// Prompt is the size of a prompt in tokens.
type Prompt struct {
	// Likely is the expected size, and AtMost one that it should not exceed: the hard limit is
	// compared with that.
	Likely, AtMost int
	// ratio is how many tokens one estimated token is taken to be; 0 for an empty prompt.
	ratio float64
	// Economy is the arithmetic of the economical trigger, 0 if that is off.
	Economy Economy
	// Retain is how many tokens a compaction by price leaves raw at most; 0 for no limit.
	Retain int
	// anew is what a token costs more in it, in USD, that a compaction leaves raw; see PaysFor.
	anew float64
}

// Without is the likely size once something of that estimate has been removed.
func (p Prompt) Without(estimate int) int { return p.Likely - int(p.ratio*float64(estimate)) }

// Shorter is the prompt once something of that estimate has been removed, with the arithmetic that it had.
func (p Prompt) Shorter(estimate int) Prompt {
	gone := p.Likely - p.Without(estimate)
	p.Likely, p.AtMost = p.Likely-gone, p.AtMost-gone
	return p
}

// With is the size that the prompt should not exceed once something of that estimate is added.
func (p Prompt) With(estimate int) int {
	return p.AtMost + PlusError(int(math.Ceil(p.ratio*float64(estimate))))
}

// EstimateOf is the estimate of a part of the prompt that has a size, rounded up.
func (p Prompt) EstimateOf(size int) int { return int(math.Ceil(float64(size) / max(1, p.ratio))) }

// orLarger returns the prompt with the larger likely size, with the larger bound of the two.
func (p Prompt) orLarger(other Prompt) Prompt {
	bound := max(p.AtMost, other.AtMost)
	if other.Likely > p.Likely {
		p = other
	}
	p.AtMost = bound
	return p
}

// request is what a request held when it was last seen on its way to the model, in estimated
// tokens.
type request struct {
	// view is the view that the request was made from, contents what was left of that view, and
	// fixed the instructions and tools.
	view, contents, fixed int
	// masked is what masking took out of the contents.
	masked int
	// asked is what Config.Fixed returned at that time.
	asked int
}

// of is how much of a view of that estimate is expected to reach the model. A view that has grown
// since is sent with all that was added; of one that has shrunk, the same share is sent as before.
// If 400 of 1,000 tokens were sent, 600 are sent once the view has 1,200, and 200 once it has 500.
//
// Masking takes away old results, and a compaction begins with the same ones. So the view first loses
// what was masked: if 400 of 1,000 tokens were sent because 600 were masked, 400 are sent once the view
// has 500, and 300 once it has 300.
func (r *request) of(estimate int) int {
	switch {
	case r == nil || r.view <= 0:
		return estimate
	case estimate >= r.view:
		return r.contents + estimate - r.view
	default:
		share := float64(r.contents+r.masked) / float64(r.view)
		return min(r.contents, int(math.Ceil(share*float64(estimate))))
	}
}

// share is how much of a view reaches the model, at most all.
func (r *request) share(estimate int) float64 {
	if r == nil || estimate <= 0 {
		return 1
	}
	return min(1, float64(r.of(estimate))/float64(estimate))
}
