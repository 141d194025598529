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
	// Landed: the bound is not reached, and the last call that fits under it was made.
	Landed bool `json:"landed,omitempty"`
}

// kinds are the kinds of bounds that a Limits has, in the order in which they are reported.
var kinds = [...]Kind{Cost, Calls, Tokens, Wall}

// bound is the bound of a kind, 0 if there is none.
func (l Limits) bound(kind Kind) int64 {
	switch kind {
	case Cost:
		return int64(l.USD)
	case Calls:
		return int64(l.ModelCalls)
	case Tokens:
		return int64(l.Tokens)
	case Wall:
		return int64(l.Wall)
	}
	return 0
}

// used is what counts against a bound of a kind.
func used(kind Kind, a Amount, wall time.Duration) int64 {
	if kind == Wall {
		return int64(wall)
	}
	return Limits{a.USD, a.Calls, a.Usage.Total(), 0}.bound(kind)
}

// stop says how much of a bound is used.
func (l Limits) stop(kind Kind, scope Scope, a Amount, wall time.Duration) *Stop {
	s := &Stop{Kind: kind, Scope: scope}
	switch kind {
	case Cost:
		s.Spent, s.Bound = a.USD.String(), l.USD.String()
	case Calls:
		s.Spent, s.Bound = count(a.Calls, "model call"), count(l.ModelCalls, "model call")
	case Tokens:
		s.Spent, s.Bound = count(a.Usage.Total(), "token"), count(l.Tokens, "token")
	case Wall:
		s.Spent, s.Bound = wall.Round(time.Millisecond).String(), l.Wall.String()
	}
	s.Landed = used(kind, a, wall) < l.bound(kind)
	return s
}

// reached returns the first bound that is reached, nil if none is.
func (l Limits) reached(scope Scope, a Amount, wall time.Duration) *Stop {
	for _, kind := range kinds {
		if bound := l.bound(kind); bound > 0 && used(kind, a, wall) >= bound {
			return l.stop(kind, scope, a, wall)
		}
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

// room is how much of a bound must be left for a call that is not the last one, going by the one before it.
func (l Limits) room(kind Kind, last Amount) int64 {
	switch kind {
	case Calls:
		return 2
	case Wall:
		return int64(min(landingTime, l.Wall/3))
	}
	return (3*used(kind, last, 0) + 1) / 2
}

// landsAt reports whether the next call is the last that fits under the bound of a kind.
func (l Limits) landsAt(kind Kind, a, last Amount, wall time.Duration) bool {
	bound := l.bound(kind)
	return bound > 0 && bound-used(kind, a, wall) < l.room(kind, last)
}

// lands returns the kind of the first bound under which the next call is the last that fits, "" if there is none.
func (l Limits) lands(a, last Amount, wall time.Duration) Kind {
	for _, kind := range kinds {
		if l.landsAt(kind, a, last, wall) {
			return kind
		}
	}
	return ""
}

// handy is what a person adds rather than an exact amount: whole cents, thousands of tokens, seconds.
var handy = map[Kind]int64{Cost: int64(tokens.Cent), Calls: 1, Tokens: 1_000, Wall: int64(time.Second)}

// missing is what to add to the bounds that stop a session, or would at its next call, so that it goes on with calls
// like its last one: rounded up, and never 0.
func (l Limits) missing(a, last Amount, wall time.Duration) (more Limits) {
	for _, kind := range kinds {
		bound, used := l.bound(kind), used(kind, a, wall)
		if bound <= 0 || used < bound && !l.landsAt(kind, a, last, wall) {
			continue
		}
		room := l.room(kind, last)
		if kind == Wall {
			room = int64(landingTime) // a third of a short limit grows with the limit
		}
		n := (max(used-bound+room, 1) + handy[kind] - 1) / handy[kind] * handy[kind]
		switch kind {
		case Cost:
			more.USD = tokens.Nano(n)
		case Calls:
			more.ModelCalls = int(n)
		case Tokens:
			more.Tokens = int(n)
		case Wall:
			more.Wall = time.Duration(n)
		}
	}
	return more
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
