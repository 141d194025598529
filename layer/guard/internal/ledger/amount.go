package ledger

import "github.com/adk-go-ext/longsession/tokens"

// Amount is what one or more model calls have used. No field is negative, but for those of a difference.
type Amount struct {
	Calls int
	Usage tokens.Usage
	USD   tokens.Nano
}

// most is the largest value of a field: any JSON reader keeps it exactly, and sums never overflow.
const most int64 = 1 << 53

// Plus returns the sum of a and b.
func (a Amount) Plus(b Amount) Amount {
	return Amount{
		Calls: add(a.Calls, b.Calls),
		Usage: tokens.Usage{
			PromptTokens: add(a.Usage.PromptTokens, b.Usage.PromptTokens),
			CachedTokens: add(a.Usage.CachedTokens, b.Usage.CachedTokens),
			OutputTokens: add(a.Usage.OutputTokens, b.Usage.OutputTokens),
		},
		USD: tokens.Nano(add(int64(a.USD), int64(b.USD))),
	}
}

// Minus returns by how much a is more than b, field by field, and 0 where it is less.
func (a Amount) Minus(b Amount) Amount {
	return Amount{
		Calls: max(0, a.Calls-b.Calls),
		Usage: tokens.Usage{
			PromptTokens: max(0, a.Usage.PromptTokens-b.Usage.PromptTokens),
			CachedTokens: max(0, a.Usage.CachedTokens-b.Usage.CachedTokens),
			OutputTokens: max(0, a.Usage.OutputTokens-b.Usage.OutputTokens),
		},
		USD: max(0, a.USD-b.USD),
	}
}

// Corrected returns the sum a with now in it in place of was.
func (a Amount) Corrected(was, now Amount) Amount { return a.Minus(was).Plus(now) }

// less returns a less b. Fields of a difference may be negative.
func (a Amount) less(b Amount) Amount {
	return Amount{
		Calls: a.Calls - b.Calls,
		Usage: tokens.Usage{
			PromptTokens: a.Usage.PromptTokens - b.Usage.PromptTokens,
			CachedTokens: a.Usage.CachedTokens - b.Usage.CachedTokens,
			OutputTokens: a.Usage.OutputTokens - b.Usage.OutputTokens,
		},
		USD: a.USD - b.USD,
	}
}

// AtLeast reports whether no field of a is less than that of b.
func (a Amount) AtLeast(b Amount) bool { return b.Minus(a) == Amount{} }

// Max returns the larger value of each field.
func (a Amount) Max(b Amount) Amount { return b.Plus(a.Minus(b)) }

// cleaned returns a with each field between 0 and the largest value.
func (a Amount) cleaned() Amount { return a.Plus(Amount{}) }

func add[N int | int64](a, b N) N {
	clamp := func(n int64) int64 { return min(max(n, 0), most) }
	return N(clamp(clamp(int64(a)) + clamp(int64(b))))
}
