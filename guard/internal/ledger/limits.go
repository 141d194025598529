package ledger

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/adk-go-ext/longsession/tokens"
)

// Limits are bounds; 0 is none. A bound is reached when what is used is equal to it or above.
type Limits struct {
	USD        tokens.Nano
	ModelCalls int
	Tokens     int
	Wall       time.Duration
}

// plus adds what was granted to the bounds that are on.
func (l Limits) plus(granted Limits) Limits {
	if l.USD > 0 {
		l.USD = tokens.Nano(add(int64(l.USD), int64(granted.USD)))
	}
	if l.ModelCalls > 0 {
		l.ModelCalls = add(l.ModelCalls, granted.ModelCalls)
	}
	if l.Tokens > 0 {
		l.Tokens = add(l.Tokens, granted.Tokens)
	}
	if l.Wall > 0 {
		l.Wall = time.Duration(add(int64(l.Wall), int64(granted.Wall)))
	}
	return l
}

// Kind is the kind of a bound.
type Kind string

// The kinds of bounds.
const (
	Cost     Kind = "cost_ceiling"
	Calls    Kind = "model_calls"
	Tokens   Kind = "tokens"
	Wall     Kind = "wall_time"
	Watchdog Kind = "watchdog"
)

// Scope is what a bound applies to.
type Scope string

// The scopes of bounds.
const (
	Turn    Scope = "turn"
	Session Scope = "session"
	Subtask Scope = "subtask"
)

// Stop is a bound that is reached.
type Stop struct {
	Kind  Kind   `json:"kind"`
	Scope Scope  `json:"scope"`
	Spent string `json:"spent"`
	Bound string `json:"bound,omitempty"`
}

// reached returns the first bound that is reached, nil if none is.
func (l Limits) reached(scope Scope, a Amount, wall time.Duration) *Stop {
	switch used := a.Usage.Total(); {
	case l.USD > 0 && a.USD >= l.USD:
		return &Stop{Cost, scope, a.USD.String(), l.USD.String()}
	case l.ModelCalls > 0 && a.Calls >= l.ModelCalls:
		return &Stop{Calls, scope, count(a.Calls, "model call"), count(l.ModelCalls, "model call")}
	case l.Tokens > 0 && used >= l.Tokens:
		return &Stop{Tokens, scope, count(used, "token"), count(l.Tokens, "token")}
	case l.Wall > 0 && wall >= l.Wall:
		return &Stop{Wall, scope, wall.Round(time.Millisecond).String(), l.Wall.String()}
	}
	return nil
}

// full reports whether the calls in flight may use up what is left, so that another one has to wait for them.
func (l Limits) full(a, inFlight Amount) bool {
	if inFlight.Calls == 0 {
		return false
	}
	a = a.Plus(inFlight)
	return l.USD > 0 && a.USD >= l.USD || l.ModelCalls > 0 && a.Calls >= l.ModelCalls || l.Tokens > 0 && a.Usage.Total() >= l.Tokens
}

// landingTime is how much time a last answer is given, or a third of a limit that is shorter than a minute.
const landingTime = 20 * time.Second

// lands reports whether the next call is the last that fits, going by the one before it.
func (l Limits) lands(a, last Amount, wall time.Duration) bool {
	return l.USD > 0 && 2*(l.USD-a.USD) < 3*last.USD ||
		l.ModelCalls > 0 && l.ModelCalls-a.Calls == 1 ||
		l.Tokens > 0 && 2*(l.Tokens-a.Usage.Total()) < 3*last.Usage.Total() ||
		l.Wall > 0 && l.Wall-wall < min(landingTime, l.Wall/3)
}

// Use is how much of one bound is used. The zero value is no bound.
type Use struct {
	Kind        Kind
	Scope       Scope
	Share       float64
	used, bound int64
}

// Used and Bound return the amounts with their unit. They are made on demand: a Use is asked for with every
// event, and told once per turn.
func (u Use) Used() string  { return u.text(u.used) }
func (u Use) Bound() string { return u.text(u.bound) }

func (u Use) text(n int64) string {
	switch u.Kind {
	case Cost:
		return tokens.Nano(n).String()
	case Calls:
		return count(int(n), "model call")
	case Tokens:
		return count(int(n), "token")
	}
	return time.Duration(n).Round(time.Second).String()
}

// mostUsed returns the bound that is closest to being reached, as a share of it.
func (l Limits) mostUsed(scope Scope, a Amount, wall time.Duration) (use Use) {
	note := func(kind Kind, used, bound int64) {
		if bound <= 0 {
			return
		}
		if share := float64(used) / float64(bound); share > use.Share {
			use = Use{kind, scope, share, used, bound}
		}
	}
	note(Cost, int64(a.USD), int64(l.USD))
	note(Calls, int64(a.Calls), int64(l.ModelCalls))
	note(Tokens, int64(a.Usage.Total()), int64(l.Tokens))
	note(Wall, int64(wall), int64(l.Wall))
	return use
}

// left returns what is left of the bounds that are on, at least the smallest amount.
func (l Limits) left(a Amount, wall time.Duration) Limits {
	if l.USD > 0 {
		l.USD = max(1, l.USD-a.USD)
	}
	if l.ModelCalls > 0 {
		l.ModelCalls = max(1, l.ModelCalls-a.Calls)
	}
	if l.Tokens > 0 {
		l.Tokens = max(1, l.Tokens-a.Usage.Total())
	}
	if l.Wall > 0 {
		l.Wall = max(1, l.Wall-wall)
	}
	return l
}

// tighter returns the smaller of each bound that is on.
func (l Limits) tighter(m Limits) Limits {
	return Limits{smaller(l.USD, m.USD), smaller(l.ModelCalls, m.ModelCalls), smaller(l.Tokens, m.Tokens), smaller(l.Wall, m.Wall)}
}

func smaller[N cmp.Ordered](a, b N) N {
	var zero N
	if a == zero || b != zero && b < a {
		return b
	}
	return a
}

// count writes a number with commas and its unit.
func count(n int, unit string) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%s %s", digits, unit)
}
