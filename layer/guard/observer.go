package guard

import (
	"context"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/tokens"
)

// ObservationKind is what an [Observation] is about.
type ObservationKind string

const (
	// Charged: a call of an agent, a subtask or the summarizer was charged. Model, Tokens and USD have what it
	// has used.
	Charged ObservationKind = "charged"
	// Noted: the model was told how much of a limit is left. Reason is the note.
	Noted ObservationKind = "noted"
	// Landed: a call went without tools, because it is the last one that fits under a bound.
	Landed ObservationKind = "landed"
	// Tripped: a bound was reached. Stop has it.
	Tripped ObservationKind = "tripped"
	// Refused: a run or a model call was refused. Stop or Err says why.
	Refused ObservationKind = "refused"
	// Alerted: the watchdog has seen a pattern. Reason is the alert.
	Alerted ObservationKind = "alerted"
	// Unpriced: the prices of Model are not known. Reported once per model and session.
	Unpriced ObservationKind = "unpriced"
	// Unmetered: a call could not be charged as it should, and Reason says how it was: the model reports no
	// usage, or the session that pays is not known. Reported once per model and session.
	Unmetered ObservationKind = "unmetered"
	// Reset: a stopped session may go on. Reason has what was added.
	Reset ObservationKind = "reset"
	// Conflict: the stored totals of a session are damaged, or not those that this process has stored. Reason
	// says which were used.
	Conflict ObservationKind = "conflict"
)

// Observation is one thing that happened. Fields that do not apply are zero.
//
// Config.Observer gets them one at a time, in the order in which things happened. They
// come from a goroutine of the guard, a little later, so an observer that blocks, hangs or panics harms no
// turn. Up to 1,024 observations wait for it; those beyond are lost, and counted in [Observation.Missed]. The
// context has the values of the model call's, and is never canceled. [Guard.Flush] waits for the observer.
type Observation struct {
	Kind          ObservationKind
	Session       compaction.SessionRef // that pays; zero for a call outside of any session
	Agent, Branch string
	InvocationID  string
	Model         string

	// Calls, Tokens and USD are of Charged. USD is 0 if the prices of the model are not known. If a later report of the same
	// call corrects what was charged, they are the difference, which may be negative.
	Calls  int
	Tokens tokens.Usage
	USD    tokens.Nano

	Stop   *StopError
	Reason string
	Err    error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// observe passes an observation on to the observer. It never waits.
func (g *Guard) observe(ctx context.Context, o Observation) {
	if g.cfg.Observer != nil {
		g.outbox.Send(ctx, o, g.deliver)
	}
}

func (g *Guard) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	g.cfg.Observer(ctx, o)
}

// charged reports what a call has used.
func (g *Guard) charged(ctx context.Context, who caller, p ledger.Payer, model string, a ledger.Amount, s ledger.Settled) {
	g.watch.pays(who, a.USD)
	if g.cfg.Observer == nil {
		return
	}
	if s.NewUnpriced {
		o := who.observation(Unpriced, p)
		o.Model, o.Reason = model, "its calls are counted, and their cost is not known"
		g.observe(ctx, o)
	}
	o := who.observation(Charged, p)
	o.Model, o.Calls, o.Tokens, o.USD = model, a.Calls, a.Usage, a.USD
	g.observe(ctx, o)
	g.tripped(ctx, who, p, s.Tripped)
}

// Flush waits until the observer has received all observations so far. It returns only the context's
// error.
func (g *Guard) Flush(ctx context.Context) error { return g.outbox.Flush(ctx) }
