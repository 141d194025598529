package audit

import (
	"context"
	"sync"

	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// Follower adds up sessions that are still growing. It remembers how far it has read each of them, so a
// question about a long session costs only what is new since the one before. It is safe for concurrent use.
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
	// Records has the Seq of each of these records.
	Records []int64
	// Model is the model of the newest call, empty if it is not known, and Window its context window in tokens,
	// 0 if that is not known.
	Model  string
	Window int
	// History is the estimated size of all events in a prompt, without the records.
	History int
}

// Costs is [Prices.Costs].
func (w *Follower) Costs(ctx context.Context, f *File, s *Session, turns int) (*Costs, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.costs(ctx, f, s, turns)
}

// Curve returns the calls of a session so far. The caller must not change the slices.
func (w *Follower) Curve(ctx context.Context, f *File, s *Session) (*Curve, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of, err := w.update(ctx, f, s)
	if err != nil {
		return nil, err
	}
	c := of.curve
	entry, _ := w.prices.Registry.Lookup(c.Model)
	c.Window, c.History = entry.ContextWindow, of.history
	return &c, nil
}

func (w *Follower) costs(ctx context.Context, f *File, s *Session, turns int) (*Costs, error) {
	of, err := w.update(ctx, f, s)
	if err != nil {
		return nil, err
	}
	c := of.bill.costs(s, turns)
	for _, child := range s.Children {
		of, err := w.costs(ctx, f, child, turns)
		if err != nil {
			return nil, err
		}
		c.fold(of)
	}
	c.sort()
	if s.Ledger != nil && c.AllUnreadable() == 0 {
		c.Difference = s.Ledger.Difference(c.Total)
	}
	return c, nil
}

// update reads the events that were stored since the last time. It begins anew if the model that is assumed
// has changed, or if the session is shorter than it was.
func (w *Follower) update(ctx context.Context, f *File, s *Session) (*followed, error) {
	prices := w.prices
	if prices.Model == "" && s.Ledger != nil && len(s.Ledger.Models) == 1 {
		prices.Model = s.Ledger.Models[0].Model
	}
	of := w.read[s.key]
	if of == nil || of.bill.prices.Model != prices.Model || s.Events < of.events || of.notes.session.Name() != s.Name() || of.notes.session.Created != s.Created {
		of = &followed{bill: newBill(prices), notes: &Annotator{}, turns: map[string]int{}}
		w.read[s.key] = of
	}
	of.notes.session, of.events = s, s.Events
	for row, err := range f.Rows(ctx, s, of.next, -1) {
		if err != nil {
			return nil, err
		}
		of.take(row)
		of.next = row.Seq + 1
	}
	return of, nil
}

// followed is what was read of one session.
type followed struct {
	bill  *bill
	notes *Annotator
	turns map[string]int // number of each turn
	curve Curve
	// next is the number of the first event that was not read, events the length of the session.
	next, events int64
	// history is the estimated size of all events so far. base is the prompt of the newest call before the first
	// compaction, and baseHistory the estimate at that time.
	history, base, baseHistory int
}

// take adds an event.
func (of *followed) take(row *persistence.Row) {
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
func (of *followed) takeCall(row *persistence.Row) {
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
