package selector

import "github.com/adk-go-ext/longsession/internal/adk"

// Relief is the window that makes the prompt of one reader shorter.
type Relief struct {
	Selection
	// Unbounded means that the window may be larger than the summarizer can read in one call.
	Unbounded bool
	// Spare is the total size, in tokens, of the windows of all branches that the reader sees.
	Spare int
}

// Relieve selects for the token trigger: the largest window of the branches whose events are part
// of the prompt of an agent in the branch reader.
//
// If the window frees fewer than mustFree tokens, Relieve takes invocations that the user has left for
// over, see [Params.Left]. Then it keeps fewer of the newest events raw, half as many each time. As a
// last resort it selects units that no summarizer could read in one call:
//
//	Retain 10: the window frees 300 of 2,000 tokens    (the newest ten results are the large ones)
//	Retain 5:  the window frees 1,400
//	Retain 2:  the window frees 2,300, and is taken
func Relieve(h Input, p Params, branches []string, reader string, mustFree int) Relief {
	for {
		best, spare := Selection{Reason: NothingEligible}, 0
		for _, branch := range branches {
			if !adk.Visible(reader, branch) {
				continue
			}
			sel := Tokens(h, p, branch)
			spare += sel.Tokens
			if sel.Tokens > best.Tokens || best.Empty() && best.Reason == NothingEligible {
				best = sel
			}
		}
		enough := !best.Empty() && (best.Tokens >= mustFree || best.Cut)
		switch {
		case enough || mustFree == 0:
			return Relief{best, p.MaxTokens == 0, spare}
		case !p.Left:
			p.Left = true
		case p.Retain > 0:
			p.Retain /= 2
		case best.Reason == TooLarge && p.MaxTokens != 0:
			p.MaxTokens = 0
		default:
			return Relief{best, p.MaxTokens == 0, spare}
		}
	}
}
