package compaction

import (
	"context"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// toolResultTimeout is how long the inner service may take to store a tool's result once the turn's
// context has ended.
const toolResultTimeout = 5 * time.Second

// appendContext returns the context in which an event is appended. For a tool's result it outlives
// ctx by [toolResultTimeout]: the tool ran, and its effects are real even if the user has pressed
// Ctrl-C, so its result must not be lost. For every other event it is ctx itself. The caller calls
// release when the append has returned.
//
//	the call is stored, the tool runs    the user presses Ctrl-C: ctx ends
//	the tool returns                     its result is stored all the same
func appendContext(ctx context.Context, ev *session.Event, class adk.Class) (appendCtx context.Context, release func()) {
	if ev.Partial || class.Is(adk.ByUser) || !class.Is(adk.Responds) {
		return ctx, func() {}
	}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	giveUp := func() { cancel(context.Cause(ctx)) }
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(toolResultTimeout, giveUp)
		context.AfterFunc(detached, func() { timer.Stop() })
	})
	appendCtx = detached
	if inv := adk.Invocation(ctx); inv != nil {
		appendCtx = detachedInvocation{inv, detached}
	}
	return appendCtx, func() {
		stop()
		cancel(nil)
	}
}

// detachedInvocation is an invocation's context that ends with another context. Decorators of a
// session service look for the invocation in the context of an append, so it must stay one.
type detachedInvocation struct {
	agent.InvocationContext
	ends context.Context
}

func (c detachedInvocation) Deadline() (time.Time, bool) { return c.ends.Deadline() }
func (c detachedInvocation) Done() <-chan struct{}       { return c.ends.Done() }
func (c detachedInvocation) Err() error                  { return c.ends.Err() }
func (c detachedInvocation) Value(key any) any           { return c.ends.Value(key) }
