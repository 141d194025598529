package audit

import (
	"context"
	"sync"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Follower adds up sessions that are still growing. It remembers how far it has read each of them, so a
// question about a long session costs only what is new since the one before. It is safe for concurrent use, and
// reads several sessions at once.
type Follower struct {
	prices Prices

	mu   sync.Mutex
	read map[int64]*followed // by the key of the session
}

// Follow returns a Follower that charges the prices.
func (p Prices) Follow() *Follower { return &Follower{prices: p, read: map[int64]*followed{}} }

// ModelCall is a model call of a session's own agents that reported its usage.
type ModelCall struct {
	// Seq is the number of its event, Turn that of its turn, from 1.
	Seq  int64
	Turn int
	// Prompt is the size of its prompt in tokens, as the provider reported it. Whole is what the prompt
	// would have been with the whole history: Prompt before the first compaction, and afterwards an
	// estimate, the last such Prompt and the estimated sizes of the events since.
	Prompt, Whole int
	// USD is what the session had cost with this call, summaries included and subtasks not. It leaves out
	// calls without a price.
	USD tokens.Nano
}

// Curve is how the prompts of a session grew.
type Curve struct {
	Calls []ModelCall
	// Compactions has an index of Calls for each record, in order: the number of calls before it.
	Compactions []int
	// Records has the Seq of each of these records, and Made says what they are for.
	Records []int64
	Made    Made
	// Model is the model of the newest call, empty if it is not known, and Window its context window in tokens,
	// 0 if that is not known.
	Model  string
	Window int
	// History is the estimated size of all events in a prompt, without the records.
	History int
}

// Read reads what was stored since the last time in a session and in those of its subtasks: at most so many events, or
// all if most is negative. It returns how many events are left to read.
func (w *Follower) Read(ctx context.Context, f *File, s *Session, most int) (left int64, err error) {
	for _, s := range s.Family() {
		n, err := w.followed(s).update(ctx, f, s, most)
		if err != nil {
			return 0, err
		}
		if most >= 0 {
			most = max(0, most-int(n))
		}
		left += w.followed(s).left(s)
	}
	return left, nil
}

// Costs is [Prices.Costs] for what was read so far.
func (w *Follower) Costs(s *Session, turns int) *Costs {
	c := w.followed(s).costs(s, turns)
	for _, child := range s.Children {
		c.fold(w.Costs(child, turns))
	}
	c.sort()
	if s.Ledger != nil && c.AllUnreadable() == 0 {
		c.Difference = s.Ledger.Difference(c.Total, c.Uncounted)
	}
	return c
}

// Curve returns the calls of a session that were read so far. The caller must not change the slices.
func (w *Follower) Curve(s *Session) *Curve {
	of := w.followed(s)
	of.mu.Lock()
	defer of.mu.Unlock()
	c := of.curve
	entry, _ := w.prices.Registry.Lookup(c.Model)
	c.Window, c.History = entry.ContextWindow, of.history
	return &c
}

// followed returns what was read of a session: nothing yet if the model that is assumed has changed, or if the session
// is not the one that was read.
func (w *Follower) followed(s *Session) *followed {
	prices := w.prices
	if prices.Model == "" && s.Ledger != nil && len(s.Ledger.Models) == 1 {
		prices.Model = s.Ledger.Models[0].Model
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.read[s.key]
	if of == nil || of.prices != prices || of.name != s.Name() || of.created != s.Created {
		of = &followed{name: s.Name(), created: s.Created, prices: prices, amounts: newAmounts(prices)}
		w.read[s.key] = of
	}
	return of
}

// followed is what was read of one session.
type followed struct {
	name, created string
	prices        Prices

	mu sync.Mutex
	amounts
}

// amounts is what the events so far add up to.
type amounts struct {
	bill  *bill
	notes *Annotator
	turns map[string]int // number of each turn
	made  counted
	curve Curve
	// next is the number of the first event that was not read, events how many were.
	next, events int64
	// history is the estimated size of all events so far. base is the prompt of the newest call before the first
	// compaction, and baseHistory the estimate at that time.
	history, base, baseHistory int
}

func newAmounts(prices Prices) amounts {
	return amounts{bill: newBill(prices), notes: &Annotator{}, turns: map[string]int{}}
}

// update reads at most so many events, or all if most is negative, and returns how many it has read.
func (of *followed) update(ctx context.Context, f *File, s *Session, most int) (n int64, err error) {
	of.mu.Lock()
	defer of.mu.Unlock()
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		now, err := sessionIn(ctx, snap, s)
		if err == nil && now.Events < of.next-1 { // an older copy of the file was put in its place
			of.amounts = newAmounts(of.prices)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	of.notes.session = s
	for row, err := range f.Rows(ctx, s, of.next, most) {
		if err != nil {
			return n, err
		}
		of.take(row)
		of.next, n = row.Seq+1, n+1
		of.events++
	}
	return n, nil
}

// left returns how many events of a session were not read.
func (of *followed) left(s *Session) int64 {
	of.mu.Lock()
	defer of.mu.Unlock()
	return max(0, s.Events-of.events)
}

// costs returns what a session has cost without its subtasks.
func (of *followed) costs(s *Session, turns int) *Costs {
	of.mu.Lock()
	defer of.mu.Unlock()
	return of.bill.costs(s, turns)
}

// take adds an event.
func (of *amounts) take(row *sessionfile.Row) {
	before := of.bill.agentCalls
	of.bill.take(row)
	var e Entry
	if of.notes.follow(&e, row); e.Stop != nil || e.Reset != "" {
		of.bill.stops = append(of.bill.stops, StopEvent{row.Seq, stamp(row.Event.Timestamp), e.Stop, e.Reset})
	}
	ev := row.Event
	switch {
	case ev == nil:
		return
	case record.Is(ev):
		of.curve.Compactions = append(of.curve.Compactions, len(of.curve.Calls))
		of.curve.Records = append(of.curve.Records, row.Seq)
		of.made.take(ev)
		of.curve.Made = of.made.Made
		if len(of.curve.Records) == 1 && of.base == 0 {
			of.baseHistory = of.history
		}
		return
	}
	if speaks(ev) && ev.InvocationID != "" && of.turns[ev.InvocationID] == 0 {
		of.turns[ev.InvocationID] = len(of.turns) + 1
	}
	if of.bill.agentCalls > before {
		of.takeCall(row)
	}
	of.history = sum(of.history, size(ev))
}

// takeCall adds the call that answered with an event.
func (of *amounts) takeCall(row *sessionfile.Row) {
	prompt := billed(row.Event.UsageMetadata).PromptTokens
	whole := prompt
	if len(of.curve.Records) == 0 {
		of.base, of.baseHistory = prompt, of.history
	} else {
		whole = max(prompt, sum(of.base, of.history-of.baseHistory))
	}
	if of.curve.Model = row.Event.ModelVersion; of.curve.Model == "" {
		of.curve.Model = of.bill.prices.Model
	}
	of.curve.Calls = append(of.curve.Calls, ModelCall{
		Seq: row.Seq, Turn: of.turns[row.Event.InvocationID], Prompt: prompt, Whole: whole, USD: of.bill.total.USD,
	})
}
