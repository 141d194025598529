package prompt

import (
	"context"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// Kind is what an [Observation] is about.
type Kind string

const (
	// Changed: the system instruction that is about to be sent is not that of the agent's last request.
	// Section is the first that differs, and At is where. The provider's prompt cache ends there.
	Changed Kind = "changed"
	// Failed: a source returned only an error, panicked, hung, or returned more than 1 MiB. Section is
	// the one that it fills, and Kept reports whether the section keeps its last text. It is reported
	// once, and again when the error changes. Without a Section it is a panic of the builder itself, which Err
	// has with its place; it is reported once for each place.
	Failed Kind = "failed"
	// Incomplete: a source returned a text and an error. The text is used, also an empty one if the error
	// wraps [ErrUntrusted]. It is reported once, and again when the error changes.
	Incomplete Kind = "incomplete"
	// Recovered: a source that was Failed or Incomplete has returned a text without an error.
	Recovered Kind = "recovered"
)

// Observation is one thing that happened. Fields that do not apply are zero.
//
// Config.Observer gets them one at a time, in the order in which things happened. They
// come from a goroutine of their own, a little later, so an observer that blocks, hangs or panics harms no turn.
// Up to 1,024 observations wait for it; those beyond are lost, and counted in [Observation.Missed]. The context
// has the values of the run's, and is never canceled. [Builder.Flush] waits for the observer.
type Observation struct {
	Kind          Kind
	Session       store.Owner
	Agent, Branch string
	InvocationID  string

	// Section is the name of a section, such as "project".
	Section string
	// At is the offset, in bytes, of the first difference in the joined instruction; see [Joined].
	At int
	// Kept reports whether a section whose source has failed keeps the last text that it had in the
	// session.
	Kept bool
	Err  error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// observe passes an observation on to the observer. It never waits.
func (b *Builder) observe(ctx context.Context, o Observation) {
	if b.cfg.Observer != nil {
		b.outbox.Send(ctx, o, b.cfg.deliver)
	}
}

func (c *Config) deliver(ctx context.Context, o Observation, missed int) {
	o.Missed = missed
	c.Observer(ctx, o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's
// error.
func (b *Builder) Flush(ctx context.Context) error { return b.outbox.Flush(ctx) }
