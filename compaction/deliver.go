package compaction

import (
	"context"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// deliveryTimeout is how long the inner service may take to store a tool's result once the turn's
// context has ended.
const deliveryTimeout = 5 * time.Second

// delivery returns the context in which an event is appended. For the result of a tool it outlives
// ctx by [deliveryTimeout]: the tool ran, and its effects are real whether the user pressed Ctrl-C
// meanwhile or not, so its result must not be lost. For every other event it is ctx itself. The
// caller calls release when the append has returned.
func delivery(ctx context.Context, ev *session.Event) (deliver context.Context, release func()) {
	if class := adk.Classify(ev); ev.Partial || class.Is(adk.ByUser) || !class.Is(adk.Responds) {
		return ctx, func() {}
	}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	giveUp := func() { cancel(context.Cause(ctx)) }
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(deliveryTimeout, giveUp)
		context.AfterFunc(detached, func() { timer.Stop() })
	})
	deliver = detached
	if inv, ok := ctx.(agent.InvocationContext); ok {
		deliver = deliveryContext{inv, detached}
	}
	return deliver, func() {
		stop()
		cancel(nil)
	}
}

// deliveryContext is an invocation's context with another end, because decorators of a session
// service look for the invocation in the context of an append.
type deliveryContext struct {
	agent.InvocationContext
	ends context.Context
}

func (c deliveryContext) Deadline() (time.Time, bool) { return c.ends.Deadline() }
func (c deliveryContext) Done() <-chan struct{}       { return c.ends.Done() }
func (c deliveryContext) Err() error                  { return c.ends.Err() }
func (c deliveryContext) Value(key any) any           { return c.ends.Value(key) }
