package guard

import (
	"strconv"
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// Dollars is an amount of money, such as Dollars(0.10) for ten cents. Fractions of a nano-dollar are rounded up. What
// is no amount, such as NaN or more than a billion, gives -1, which every limit refuses.
func Dollars(usd float64) tokens.Nano {
	nano, err := tokens.ParseUSD(strconv.FormatFloat(usd, 'g', -1, 64))
	if err != nil {
		return -1
	}
	return nano
}

// Limits are bounds on what a turn, a session or a subtask may use. A bound of 0 is off. A bound is reached
// when the amount is equal to it or above, and then no further model call starts.
type Limits struct {
	// USD is the most that model calls may cost: Dollars(0.50), or 50 * tokens.Cent. Less than a hundredth of a cent is
	// refused: a bare number is one of nano-dollars.
	USD tokens.Nano
	// ModelCalls is the largest number of model calls. A call that fails without usage does not count.
	ModelCalls int
	// Tokens is the largest number of prompt and output tokens of all calls together. Each call counts its
	// whole prompt, so a conversation of 10,000 tokens uses 10,000 of them with each call.
	Tokens int
	// Wall is the longest time. For a session it is the time of all its turns together.
	Wall time.Duration
}

// Any reports whether any of the limits is on.
func (l Limits) Any() bool { return l.USD > 0 || l.ModelCalls > 0 || l.Tokens > 0 || l.Wall > 0 }
