package subtask

import (
	"context"

	"github.com/adk-go-ext/longsession/compaction"
)

// Kind is what an [Observation] is about.
type Kind string

const (
	// Started: a subtask has its session, and is about to run. Resumed reports that a person has decided what
	// it had asked.
	Started Kind = "started"
	// Asked: a tool of a subtask needs a confirmation, and the parent's tool has asked for it.
	Asked Kind = "asked"
	// Declined: a tool of a subtask needs a confirmation, which cannot be asked for, so the call was declined.
	Declined Kind = "declined"
	// Ended: a subtask has ended. Result says how.
	Ended Kind = "ended"
	// Refused: a subtask was not run. Result.Reason or Err says why.
	Refused Kind = "refused"
)

// Observation is one thing that happened. Fields that do not apply are zero.
//
// Config.Observer gets them one at a time, in the order in which things happened. They
// come from a goroutine of their own, a little later, so an observer that blocks, hangs or panics harms no
// subtask. Up to 1,024 observations wait for it; those beyond are lost, and counted in [Observation.Missed].
// The context has the values of the tool's, and is never canceled. [Runner.Flush] waits for the observer.
type Observation struct {
	Kind Kind
	// Name is that of the [Spec].
	Name string
	// Parent is the session whose tool has called, and Child is the subtask's.
	Parent, Child compaction.SessionRef
	// CallID is the function call of the parent's.
	CallID  string
	Resumed bool
	Result  Result
	Err     error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// observe passes an observation on to the observer. It never waits.
func (r *Runner) observe(ctx context.Context, o Observation) {
	if r.cfg.Observer != nil {
		r.outbox.Send(ctx, o, r.deliver)
	}
}

func (r *Runner) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	r.cfg.Observer(ctx, o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's error.
func (r *Runner) Flush(ctx context.Context) error { return r.outbox.Flush(ctx) }
