//go:build ignore

package adk_test

import (
	"bytes"
	"log"
	"testing"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/internal/adk"
)

type invocation struct{ agent.InvocationContext }

func (invocation) Artifacts() agent.Artifacts { return nil }

// scoped is an invocation in a branch and a scope.
type scoped struct{ invocation }

func (scoped) Branch() string         { return "desk" }
func (scoped) IsolationScope() string { return "call-1" }

func (s scoped) WithICDelta(d *agent.InvocationContextDelta) agent.InvocationContext { return s }

// TestContextsOfCallbacksAndToolsAreNoInvocations, and nothing is logged to find that out.
func TestContextsOfCallbacksAndToolsAreNoInvocations(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	type within struct{ agent.Context }
	type missing struct {
		*within
		agent.InvocationContext
	}
	ic := invocation{}
	ofTool, ofCallback := agent.NewToolContext(ic, "c", nil, nil), agent.NewCallbackContext(ic, nil)
	for name, ctx := range map[string]agent.InvocationContext{
		"a callback": ofCallback, "a tool": ofTool, "one around it": within{ofTool}, "one around that": &within{within{ofCallback}},
	} {
		if adk.Invocation(ctx) != nil {
			t.Errorf("the context of %s is taken for an invocation", name)
		}
	}
	for name, ctx := range map[string]agent.InvocationContext{
		"a run": ic, "a node": agent.NewContext(ic), "an app": &missing{InvocationContext: ic}, "an agent as a tool": agent.NewContext(invocation{agent.NewContext(ic)}),
	} {
		if adk.Invocation(ctx) == nil {
			t.Errorf("the context of %s is not taken for an invocation", name)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("logged: %s", &logged)
	}
}

// TestACallbackAndAToolAreInTheLaneOfTheirInvocation, though their contexts do not tell the scope, and nothing is logged.
func TestACallbackAndAToolAreInTheLaneOfTheirInvocation(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	type within struct{ agent.Context }
	type read struct{ agent.ReadonlyContext }
	ic := scoped{}
	ofTool, ofCallback := agent.NewToolContext(ic, "c", nil, nil), agent.NewCallbackContext(ic, nil)
	for name, ctx := range map[string]agent.ReadonlyContext{
		"a callback": ofCallback, "a tool": ofTool, "one around it": within{ofTool}, "a run": agent.NewContext(ic),
	} {
		if got := adk.ContextLane(ctx); got != adk.LaneOf(ic) {
			t.Errorf("%s is in lane %q", name, got)
		}
	}
	if got := adk.ContextLane(read{ofCallback}); got != "desk" {
		t.Errorf("a context that can only be read is in lane %q", got)
	}
	if logged.Len() > 0 {
		t.Errorf("logged: %s", &logged)
	}
}
