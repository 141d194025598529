//go:build ignore

package toolsearch_test

import "google.golang.org/adk/agent"

// WithICDelta returns nil: a call of the tests has no invocation behind it.
func (c call) WithICDelta(*agent.InvocationContextDelta) agent.InvocationContext { return nil }
