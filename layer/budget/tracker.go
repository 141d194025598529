package budget

import (
	"slices"
	"sync"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
)

// maxTurns is how many of the newest turns a tracker keeps one by one. The sums are of all turns.
const maxTurns = 1000

// newestTurns is how many of the newest turns tell by how much the conversation grows with each.
const newestTurns = 5

// TurnUsage is the tokens of one turn.
type TurnUsage struct {
	Number       int // from 1 on, as this process counts: a tracker does not know the turns before a restart
	InputTokens  int // prompts of all model calls of the turn, cached tokens included
	OutputTokens int // all that the model wrote, thoughts included
	Total        int
	Estimated    bool      // a provider's count of a prompt was missing or not believed, so an estimate is in the sums
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
	estimated     bool // an estimate is in the sums
	invocation    string
	budget        Budget
	answer        int   // tokens that the answer to the latest request adds to the conversation
	growths       []int // tokens by which the conversation has grown in each of the newest turns
	growing       int   // the same of requests that are not answered yet
	raw           int   // turns of the latest request that no summary has, and whether it has a summary
	summarized    bool
	triggers      func() compaction.Triggers // nil if nobody compacts the session by itself
}

// Record counts a turn: the tokens that went into its model calls, and those that came out. Negative
// numbers count as 0.
func (t *Tracker) Record(input, output int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invocation = ""
	t.begin("")
	t.add(input, output)
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
	if len(t.growths) >= newestTurns {
		t.growths = slices.Delete(t.growths, 0, len(t.growths)-newestTurns+1)
	}
	t.growths = append(t.growths, 0)
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

// sent takes in a request: its size, how much of it is new, and how many turns it has that no summary has.
func (t *Tracker) sent(b Budget, grown, raw int, summarized bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.budget, t.answer = b, 0
	t.growing += grown
	t.raw, t.summarized = raw, summarized
}

// answered takes in the answer to a request of an invocation: what the provider has counted or was estimated, what the answer adds to
// the conversation, and the request's size as it is known by then.
func (t *Tracker) answered(invocation string, input, output, added int, estimated bool, b Budget) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(invocation)
	t.add(input, output)
	if estimated {
		t.turns[len(t.turns)-1].Estimated, t.estimated = true, true
	}
	t.budget, t.answer = b, max(0, added)
	t.growths[len(t.growths)-1] += t.growing + t.answer
	t.growing = 0
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

// TurnsLeft is how many more turns fit into the effective window if the conversation goes on growing as it did in the
// newest five turns. It is 0 if the session is compacted by itself, because it then has no last turn. It is also 0 if
// the window is full, if no turn has been counted, and for a Tracker that an app fills with Record, which knows no
// window. See [TokenInfo] for the next summary.
func (t *Tracker) TurnsLeft() int { return t.Info().TurnsLeft }

// TokenInfo is the state of a session's context window, for a status line.
type TokenInfo struct {
	Used, Available  int     // tokens of the latest request, and of the effective window that are free
	PercentUsed      float64 // of the effective window: 83.5 is 83.5%
	TurnsLeft        int     // see [Tracker.TurnsLeft]
	CompactThreshold float64 // share of the effective window at which the session is compacted; 0 if that is off or not known
	// NextSummary is about how many turns it takes until the session is compacted by its size or its turns, if it goes on
	// growing as in the newest five turns. It is 0 if that is due, off or not known.
	NextSummary int
	// ByPrice reports whether the session is also compacted when that pays, which may be earlier.
	ByPrice bool
}

// Info returns the state of the session's context window.
func (t *Tracker) Info() TokenInfo {
	t.mu.Lock()
	ask := t.triggers
	t.mu.Unlock()
	var triggers compaction.Triggers
	if ask != nil {
		triggers = ask()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	effective, remaining := t.budget.EffectiveWindow(), t.budget.RemainingTokens()-t.answer
	info := TokenInfo{
		Used: t.budget.UsedTokens(), Available: max(0, t.budget.RemainingTokens()), PercentUsed: 100 * t.budget.UsedPercentage(), ByPrice: triggers.ByPrice,
	}
	if triggers.Tokens > 0 && effective > 0 {
		info.CompactThreshold = float64(triggers.Tokens) / float64(effective)
	}
	bySize := 0
	if triggers.Tokens > 0 {
		bySize = t.turnsFor(triggers.Tokens - (effective - remaining))
	}
	switch {
	case triggers == compaction.Triggers{Overlap: triggers.Overlap}:
		info.TurnsLeft = t.turnsFor(remaining)
	case triggers.Invocations == 0:
		info.NextSummary = bySize
	default:
		info.NextSummary = triggers.Invocations - t.raw
		if t.summarized {
			info.NextSummary += triggers.Overlap
		}
		if triggers.Tokens > 0 {
			info.NextSummary = min(info.NextSummary, bySize)
		}
		info.NextSummary = max(0, info.NextSummary)
	}
	return info
}

// turnsFor is how many turns it takes to fill so many tokens, 0 if that is not known. The last of them may fill a part.
func (t *Tracker) turnsFor(tokens int) int {
	sum := 0
	for _, growth := range t.growths {
		sum += growth
	}
	if sum <= 0 || tokens <= 0 {
		return 0
	}
	return max(1, tokens*len(t.growths)/sum)
}
