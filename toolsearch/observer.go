package toolsearch

import (
	"context"

	"github.com/adk-go-ext/longsession/tokens"
	"github.com/adk-go-ext/longsession/toolresult/store"
)

// Observer receives observations, one at a time, in the order in which things happened. They come from a
// goroutine of the [Deferral], a little later, so an observer that blocks, hangs or panics harms no turn. Up
// to 1,024 observations wait for it; those beyond are lost, and counted in [Observation.Missed]. The
// context has the values of the model call's, and is never canceled. [Deferral.Flush] waits for the observer.
type Observer interface {
	Observe(ctx context.Context, o Observation)
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(ctx context.Context, o Observation)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, o Observation) { f(ctx, o) }

// Kind is what an [Observation] is about.
type Kind string

const (
	// Failed: something that the package calls has failed or panicked, or a request could not be handled.
	// Reason says which; the request goes on as it was.
	Failed Kind = "failed"
)

// Observation is one thing that happened. Fields that do not apply are zero.
type Observation struct {
	Kind          Kind
	Session       store.Owner // empty for a model call outside of any session
	Agent, Branch string
	InvocationID  string
	Model         string

	// Toolset is the name of a toolset, for observations of a Group.
	Toolset string
	// Tools is how many tools the agent declares by itself, or the toolset has.
	Tools int
	// Deferred is how many declarations were taken away. TokensBefore and TokensAfter are the estimated
	// sizes of all declarations, without deferral and as they are sent.
	Deferred                  int
	TokensBefore, TokensAfter int
	// Hits names the tools that a search has found, best first. QueryBytes is the length of its query.
	Hits       []string
	QueryBytes int

	// Usage is what the provider reported for an attempt whose answer was discarded.
	Usage tokens.Usage

	Reason string
	Err    error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// parcel is an observation with the context of its origin.
type parcel struct {
	ctx context.Context
	o   Observation
}

// observe passes an observation on to the observer. It never waits.
func (d *Deferral) observe(ctx context.Context, o Observation) {
	if d.cfg.Observer != nil {
		d.outbox.Add(parcel{context.WithoutCancel(ctx), o}, d.cfg.deliver)
	}
}

func (c *Config) deliver(p parcel, missed int) {
	p.o.Missed = missed
	c.Observer.Observe(p.ctx, p.o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's
// error.
func (d *Deferral) Flush(ctx context.Context) error { return d.outbox.Flush(ctx) }
