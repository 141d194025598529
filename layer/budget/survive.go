package budget

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
)

// origin is where a request comes from. Steps that call code of others run in it, and are survived.
type origin struct {
	m   *Meter
	ctx context.Context
	ic  agent.InvocationContext // nil outside of a session
	who caller
}

// guard runs a step and survives its panic. It reports whether the step succeeded.
func (c *origin) guard(what string, step func() error) (ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			ok = false
			c.failed(what, fmt.Errorf("panic: %v", cause))
		}
	}()
	if err := step(); err != nil {
		c.failed(what, err)
		return false
	}
	return true
}

// hangKey names a step of a session that may hang.
type hangKey struct {
	what string
	ref  compaction.SessionRef
}

// within runs a step that may hang, in a goroutine of its own, and gives it up after timeout. A step that
// hangs is not started again for the same session until it has returned.
func (c *origin) within(timeout time.Duration, what string, step func(context.Context) error) error {
	err := c.m.hanging.Run(c.ctx, timeout, hangKey{what, c.who.ref}, step)
	if err != nil {
		c.failed(what, err)
	}
	return err
}

// failed reports that a step failed.
func (c *origin) failed(what string, err error) {
	o := c.who.observation(Failed)
	o.Reason, o.Err = what, err
	c.m.observe(c.ctx, o)
}
