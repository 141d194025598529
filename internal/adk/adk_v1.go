package adk

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
)

// Major is the major of ADK.
const Major = 1

// ResumesRuns says that the run which answers a paused call carries on the invocation of the call. Workflows are read from
// the events of that invocation then, and from the calls that have no response yet.
const ResumesRuns = false

// ToolContext is the context of a tool, to be embedded: the field has this name whatever ADK calls the type.
type ToolContext = agent.ToolContext

// ErrNotFound is the error of a session that does not exist.
var ErrNotFound = session.ErrNotFound

// IsNotFound reports whether a service says by an error that a session does not exist.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// NodeOf returns the node of a workflow that an event comes from, and what of the event is its output: "" for none.
func NodeOf(*session.Event) (path, output string) { return "", "" }

// CopyNode does nothing: an event comes from no node.
func CopyNode(_, _ *session.Event) {}

// HasWorkflow reports whether an agent, or one below it, is a workflow whose input is the text of the user's message.
func HasWorkflow(agent.Agent) bool { return false }

// ScopeOf returns the isolation scope of an event, "" for none. It is the ID of the call that opened it.
func ScopeOf(*session.Event) string { return "" }

// SetScope does nothing: an event has no isolation scope.
func SetScope(*session.Event, string) {}

// Lane returns the lane of an event: what decides which prompts have it. That is its branch.
func Lane(ev *session.Event) string { return ev.Branch }

// LaneOf returns the lane that an invocation reads and writes.
func LaneOf(ic agent.InvocationContext) string { return ic.Branch() }

// ContextLane returns the lane of the invocation that a callback or a tool is called in.
func ContextLane(ctx agent.ReadonlyContext) string { return ctx.Branch() }

// SetLane puts an event into a lane.
func SetLane(ev *session.Event, lane string) { ev.Branch = lane }

// Inner returns the session below one that ADK has put around it, nil if ADK has not. It never does.
func Inner(session.Session) session.Session { return nil }

// Invocation returns the invocation that a context is, nil if it is another context. Contexts of callbacks and of
// tools are no invocations.
func Invocation(ctx context.Context) agent.InvocationContext {
	ic, ok := ctx.(agent.InvocationContext)
	if !ok || IsNil(ic) {
		return nil
	}
	return ic
}
