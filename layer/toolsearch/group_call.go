package toolsearch

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// errCallSlow is what the model reads in place of a result.
var errCallSlow = errors.New("the tool did not answer in time; it may still be at work")

// callGrace is how long a tool has to return once its context is canceled.
const callGrace = time.Second

// Run runs the tool inside.
func (t groupedFunction) Run(ctx agent.ToolContext, args any) (map[string]any, error) {
	return t.run(ctx, args)
}

// Run runs the tool inside.
func (t groupedBoth) Run(ctx agent.ToolContext, args any) (map[string]any, error) {
	return t.run(ctx, args)
}

// run runs the tool inside, for at most CallTimeout. An MCP server that hangs would hang the turn otherwise:
// neither ADK nor its MCP toolset bounds a call. A panic becomes an error; ADK recovers none.
func (t *groupedTool) run(ctx agent.ToolContext, args any) (map[string]any, error) {
	inner := t.Tool.(runnable)
	if t.group.cfg.CallTimeout == Off {
		return runCaught(ctx, inner, args)
	}
	limited, cancel := context.WithTimeout(ctx, t.group.cfg.CallTimeout)
	defer cancel()
	call := &toolCall{ToolContext: ctx, ctx: limited}
	type outcome struct {
		result map[string]any
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errEnded}
		defer func() { done <- o }()
		o.result, o.err = runCaught(call, inner, args)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limited.Done():
		select {
		case o = <-done:
		case <-time.After(callGrace):
			call.abandoned.Store(true)
			o.err = limited.Err()
		}
	}
	if o.err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w (after %v)", errCallSlow, t.group.cfg.CallTimeout)
	}
	return o.result, o.err
}

func runCaught(ctx agent.ToolContext, t runnable, args any) (result map[string]any, err error) {
	err = caught(func() (err error) {
		result, err = t.Run(ctx, args)
		return err
	})
	return result, err
}

// toolCall is the context of a call that ends in time. Once the call is abandoned, what the tool does to the
// event reaches nothing: ADK is reading it meanwhile.
type toolCall struct {
	adk.ToolContext
	ctx       context.Context
	abandoned atomic.Bool
}

// Deadline is that of the call.
func (c *toolCall) Deadline() (time.Time, bool) { return c.ctx.Deadline() }

// Done is closed when the call has taken too long.
func (c *toolCall) Done() <-chan struct{} { return c.ctx.Done() }

// Err is not nil once Done is closed.
func (c *toolCall) Err() error { return c.ctx.Err() }

// Value is the run's.
func (c *toolCall) Value(key any) any { return c.ctx.Value(key) }

// Actions returns those of the event, or some that nobody reads.
func (c *toolCall) Actions() *session.EventActions {
	if c.abandoned.Load() {
		return &session.EventActions{StateDelta: map[string]any{}}
	}
	return c.ToolContext.Actions()
}

// State returns the session's, or nil.
func (c *toolCall) State() session.State {
	if c.abandoned.Load() {
		return nil
	}
	return c.ToolContext.State()
}

// RequestConfirmation asks the user, unless the turn has gone on.
func (c *toolCall) RequestConfirmation(hint string, payload any) error {
	if c.abandoned.Load() {
		return c.ctx.Err()
	}
	return c.ToolContext.RequestConfirmation(hint, payload)
}
