package tokens

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Nano is an amount of money: 1 is 1e-9 USD. The prices of all models in the built-in table are whole
// numbers of it per token, so sums are exact. In floating point they are not: eight times $0.10 is less
// than $0.80.
type Nano int64

// Amounts to multiply with, as in 50 * tokens.Cent.
const (
	Cent   Nano = 1e7
	Dollar Nano = 1e9
)

// maxDollars is the largest amount that ParseUSD takes, in USD. Sums of a few such amounts still fit into
// an int64.
const maxDollars = 1e9

// ParseUSD returns an amount written in USD, such as "0.50", "$20" or "+1.25". Fractions of a Nano are
// rounded up. The error says what is wrong with the text: no number, not finite, negative, or above
// 1,000,000,000.
func ParseUSD(text string) (Nano, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "+"), "$")
	dollars, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is no amount in USD: write a number such as 0.50", text)
	case math.IsNaN(dollars) || math.IsInf(dollars, 0) || dollars > maxDollars:
		return 0, fmt.Errorf("%q is not an amount of at most %d USD", text, int64(maxDollars))
	case dollars < 0:
		return 0, fmt.Errorf("%q is negative: write an amount of 0 or more", text)
	}
	return ceilNano(dollars * float64(Dollar)), nil
}

// ceilNano rounds up to whole nano-dollars, except for the error of floating point.
func ceilNano(nano float64) Nano {
	if nearest := math.Round(nano); math.Abs(nano-nearest) <= 1e-9*max(1, math.Abs(nano)) {
		return Nano(nearest)
	}
	return Nano(math.Ceil(nano))
}

// USD returns the amount in dollars, for reports.
func (n Nano) USD() float64 { return float64(n) / float64(Dollar) }

// String returns the amount in dollars with four decimals, rounded: "$0.0107".
func (n Nano) String() string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	const tenThousandth = Dollar / 10_000
	n += tenThousandth / 2
	return fmt.Sprintf("%s$%d.%04d", sign, n/Dollar, n%Dollar/tenThousandth)
}

// Nanos returns the cost of u on m, like [Model.Cost] but as a whole number. A price that is no whole
// number of Nano per token is rounded up to one, so the cost is never too low. The cost of a model
// without prices is 0: check [Model.Priced].
func (m Model) Nanos(u Usage) Nano {
	cachedPrice := m.CachedInputPrice
	if cachedPrice == 0 {
		cachedPrice = m.InputPrice
	}
	fresh := u.PromptTokens - u.CachedTokens
	if fresh < 0 {
		fresh = u.PromptTokens
	}
	return Nano(fresh)*perToken(m.InputPrice) + Nano(u.CachedTokens)*perToken(cachedPrice) + Nano(u.OutputTokens)*perToken(m.OutputPrice)
}

// perToken is a price per million tokens as a price per token.
func perToken(price float64) Nano { return ceilNano(price * float64(Dollar) / 1e6) }
