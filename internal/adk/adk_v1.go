package adk

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
)

// Major is the major of ADK.
const Major = 1

// ToolContext is the context of a tool, to be embedded: the field has this name whatever ADK calls the type.
type ToolContext = agent.ToolContext

// ErrNotFound is the error of a session that does not exist.
var ErrNotFound = session.ErrNotFound

// IsNotFound reports whether a service says by an error that a session does not exist.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// Lane returns the lane of an event: what decides which prompts have it. That is its branch.
func Lane(ev *session.Event) string { return ev.Branch }

// LaneOf returns the lane that an invocation reads and writes.
func LaneOf(ic agent.InvocationContext) string { return ic.Branch() }

// SetLane puts an event into a lane.
func SetLane(ev *session.Event, lane string) { ev.Branch = lane }

// Invocation returns the invocation that a context is, nil if it is another context. Contexts of callbacks and of
// tools are no invocations.
func Invocation(ctx context.Context) agent.InvocationContext {
	ic, ok := ctx.(agent.InvocationContext)
	if !ok || IsNil(ic) {
		return nil
	}
	return ic
}
