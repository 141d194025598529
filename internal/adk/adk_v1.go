package adk

import (
	"context"
	"errors"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
)

// ToolContext is the context of a tool, to be embedded: the field has this name whatever ADK calls the type.
type ToolContext = agent.ToolContext

// ErrNotFound is the error of a session that does not exist.
var ErrNotFound = session.ErrNotFound

// IsNotFound reports whether a service says by an error that a session does not exist.
func IsNotFound(err error) bool { return errors.Is(err, ErrNotFound) }

// Invocation returns the invocation that a context is, nil if it is another context. Contexts of callbacks and of
// tools are no invocations.
func Invocation(ctx context.Context) agent.InvocationContext {
	ic, ok := ctx.(agent.InvocationContext)
	if !ok || IsNil(ic) {
		return nil
	}
	return ic
}
