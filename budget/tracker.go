package budget

import (
	"slices"
	"sync"
	"time"
)

// maxTurns is how many of the newest turns a tracker keeps one by one. The sums are of all turns.
const maxTurns = 1000

// TurnUsage is the tokens of one turn.
type TurnUsage struct {
	Number       int // from 1 on
	InputTokens  int // prompts of all model calls of the turn, cached tokens included
	OutputTokens int // all that the model wrote, thoughts included
	Total        int
	Timestamp    time.Time // of the turn's latest model call
}

// Tracker counts the tokens of a session for people to read. That of [Meter.Tracker] is kept by the
// meter: a turn is one invocation, and all model calls of all agents in it count. An app fills a Tracker
// that it makes itself with [Tracker.Record]. The zero value is ready to use. A Tracker is safe for
// concurrent use.
type Tracker struct {
	mu            sync.Mutex
	turns         []TurnUsage // the newest maxTurns
	count         int
	input, output int
	invocation    string
	budget        Budget
	growth        int // tokens by which the conversation has grown since the tracker was made
	compactAt     float64
}

// Record counts a turn: the tokens that went into its model calls, and those that came out. Negative
// numbers count as 0.
func (t *Tracker) Record(input, output int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocation = ""
	t.begin("")
	t.add(input, output)
	t.growth += max(0, input) + max(0, output)
}

// begin begins a new turn unless the invocation is that of the latest.
func (t *Tracker) begin(invocation string) {
	if invocation != "" && invocation == t.invocation && t.count > 0 {
		return
	}
	t.invocation = invocation
	t.count++
	if len(t.turns) >= maxTurns {
		t.turns = slices.Delete(t.turns, 0, len(t.turns)-maxTurns+1)
	}
	t.turns = append(t.turns, TurnUsage{Number: t.count})
}

// add adds to the latest turn.
func (t *Tracker) add(input, output int) {
	input, output = max(0, input), max(0, output)
	turn := &t.turns[len(t.turns)-1]
	turn.InputTokens += input
	turn.OutputTokens += output
	turn.Total += input + output
	turn.Timestamp = time.Now()
	t.input += input
	t.output += output
}

// sent takes in a request: its size, and how much of it is new.
func (t *Tracker) sent(b Budget, grown int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.budget = b
	t.growth += grown
}

// answered takes in the answer to a request of an invocation, and the request's size as it is known by
// then.
func (t *Tracker) answered(invocation string, input, output int, b Budget) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(invocation)
	t.add(input, output)
	t.budget = b
}

// Turns returns the newest turns, oldest first: at most 1,000.
func (t *Tracker) Turns() []TurnUsage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.turns)
}

// Total is the tokens of all turns, prompts and answers. Each model call counts its whole prompt, as
// providers bill it.
func (t *Tracker) Total() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.input + t.output
}

// AverageTurnSize is Total per turn, 0 before the first turn.
func (t *Tracker) AverageTurnSize() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.average()
}

func (t *Tracker) average() int { return (t.input + t.output) / max(1, t.count) }

// Budget is the size of the latest request of the session, whichever agent sent it, in its context
// window. It is zero before the first request, and for a Tracker that an app fills with Record.
func (t *Tracker) Budget() Budget {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.budget
}

// TurnsLeft is how many more turns fit into the effective window if the conversation goes on growing as
// it did on average, and nothing is compacted. It is 0 if the window is full, if no turn has been counted,
// and for a Tracker that an app fills with Record, which knows no window.
func (t *Tracker) TurnsLeft() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left()
}

func (t *Tracker) left() int {
	if t.count == 0 || t.growth == 0 {
		return 0
	}
	return max(0, t.budget.RemainingTokens()*t.count/t.growth)
}

// TokenInfo is the state of a session's context window, for a status line.
type TokenInfo struct {
	Used, Available  int     // tokens of the latest request, and of the effective window that are free
	PercentUsed      float64 // of the effective window: 83.5 is 83.5%
	TurnsLeft        int     // see [Tracker.TurnsLeft]
	CompactThreshold float64 // share of the effective window at which the session is compacted; 0 if that is off or not known
}

// Info returns the state of the session's context window.
func (t *Tracker) Info() TokenInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return TokenInfo{
		Used: t.budget.UsedTokens(), Available: max(0, t.budget.RemainingTokens()), PercentUsed: 100 * t.budget.UsedPercentage(),
		TurnsLeft: t.left(), CompactThreshold: max(0, t.compactAt),
	}
}
