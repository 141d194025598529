//go:build ignore

package adk

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
)

// Major is the major of ADK.
const Major = 2

// ResumesRuns says that the run which answers a paused call carries on the invocation of the call. Workflows are read from
// the events of that invocation then, and from the calls that have no response yet: ReconstructRunState in
// workflow/persistence.go and openLongRunningCallIDs in runner/run_node.go.
const ResumesRuns = true

// ToolContext is the context of a tool, to be embedded: the field has this name whatever ADK calls the type.
type ToolContext = agent.Context

// ErrNotFound is the error of a session that does not exist. ADK v2.2 has none of its own.
var ErrNotFound = errors.New("session not found")

// notFound are the words in which the services of ADK v2.2 say it: that in memory and that of Vertex AI, the one over
// gorm, and what gRPC answers.
var notFound = regexp.MustCompile(`session (?:.* )?not found|record not found|code = NotFound`)

// IsNotFound reports whether a session service says by an error that a session does not exist.
func IsNotFound(err error) bool {
	return err != nil && (errors.Is(err, ErrNotFound) || notFound.MatchString(err.Error()))
}

// NodeOf returns the node of a workflow that an event comes from, "" for none, and what of the event is the node's output:
// "output", "message", or "" for nothing.
func NodeOf(ev *session.Event) (path, output string) {
	switch {
	case ev == nil || ev.NodeInfo == nil:
		return "", ""
	case ev.Output != nil:
		output = "output"
	case ev.NodeInfo.MessageAsOutput:
		output = "message"
	}
	return ev.NodeInfo.Path, output
}

// CopyNode gives an event the node of another, and the mark of an output if that has one, not the output itself: see [NodeOf].
func CopyNode(to, from *session.Event) {
	to.NodeInfo, to.Output = from.NodeInfo, nil
	if from.Output != nil {
		to.Output = true
	}
}

// HasWorkflow reports whether an agent, or one below it, is a workflow whose input is the text of the user's message. ADK
// says only by a field that an agent is one: State in internal/agent/state.go.
func HasWorkflow(a agent.Agent) bool {
	return !IsNil(a) && (isWorkflow(a) || slices.ContainsFunc(a.SubAgents(), HasWorkflow))
}

func isWorkflow(a agent.Agent) bool {
	v := reflect.Indirect(reflect.ValueOf(a))
	if v.Kind() != reflect.Struct {
		return false
	}
	if field, ok := v.Type().FieldByName("AgentType"); ok && field.Type.Kind() == reflect.String {
		kind, err := v.FieldByIndexErr(field.Index)
		return err == nil && kind.String() == "WorkflowAgent"
	}
	for i := range v.NumField() { // an app's own type around an agent
		if f := v.Type().Field(i); f.Anonymous && f.IsExported() && f.Type == reflect.TypeFor[agent.Agent]() && !v.Field(i).IsNil() {
			return isWorkflow(v.Field(i).Interface().(agent.Agent))
		}
	}
	return false
}

// ScopeOf returns the isolation scope of an event, "" for none. It is the ID of the call that opened it.
func ScopeOf(ev *session.Event) string { return ev.IsolationScope }

// SetScope sets the isolation scope of an event.
func SetScope(ev *session.Event, scope string) { ev.IsolationScope = scope }

// Lane returns the lane of an event: what decides which prompts have it. That is its branch, and its isolation scope if
// it has one.
func Lane(ev *session.Event) string { return JoinLane(ev.Branch, ev.IsolationScope) }

// LaneOf returns the lane that an invocation reads and writes.
func LaneOf(ic agent.InvocationContext) string { return JoinLane(ic.Branch(), ic.IsolationScope()) }

// ContextLane returns the lane of the invocation that a callback or a tool is called in. Their contexts do not tell the
// scope, but they make an invocation with changes, which does: WithICDelta in agent/callback_context_wrapper.go and
// agent/tool_context_wrapper.go. Without changes that is the invocation itself. A context that can only be read is
// taken for one outside of scopes.
func ContextLane(ctx agent.ReadonlyContext) string {
	if c, ok := ctx.(agent.Context); ok {
		if ic := Invocation(c.WithICDelta(nil)); ic != nil {
			return LaneOf(ic)
		}
	}
	return ctx.Branch()
}

// SetLane puts an event into a lane.
func SetLane(ev *session.Event, lane string) { ev.Branch, ev.IsolationScope = SplitLane(lane) }

// Inner returns the session below one that ADK has put around it, nil if ADK has not. An agent that runs for one turn is
// given its task by such a session, which has no method to get at the one below: wrappedSession in
// agent/llmagent/llm_agent_wrapper.go. Only types of ADK are looked into: somebody else's may embed a session for other
// reasons.
func Inner(sess session.Session) session.Session {
	v := reflect.Indirect(reflect.ValueOf(sess))
	if v.Kind() != reflect.Struct || !strings.HasPrefix(v.Type().PkgPath(), module) {
		return nil
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Anonymous && f.Type == reflect.TypeFor[session.Session]() {
			inner, _ := v.Field(i).Interface().(session.Session)
			return inner
		}
	}
	return nil
}

// module is the path of ADK's module, with a slash at its end.
var module = strings.TrimSuffix(reflect.TypeFor[session.Event]().PkgPath(), "session")

// Invocation returns the invocation that a context is, nil if it is another context. The contexts of callbacks and of
// tools have the methods of an invocation; called, they log that they are not supported, and return nothing.
func Invocation(ctx context.Context) agent.InvocationContext {
	ic, ok := ctx.(agent.InvocationContext)
	if !ok || IsNil(ic) || isRestricted(reflect.ValueOf(ic)) {
		return nil
	}
	return ic
}

// restricted are the types of the contexts that ADK gives to callbacks and to tools.
var restricted = map[reflect.Type]bool{
	reflect.TypeOf(agent.NewCallbackContext(unbound{}, nil)):             true,
	reflect.TypeOf(agent.NewToolContext(unbound{}, "no call", nil, nil)): true,
}

// unbound is an invocation of no session.
type unbound struct{ agent.InvocationContext }

func (unbound) Artifacts() agent.Artifacts { return nil }

// isRestricted reports whether a context is one of those types, or embeds one.
func isRestricted(ctx reflect.Value) bool {
	if restricted[ctx.Type()] {
		return true
	}
	v := reflect.Indirect(ctx)
	if v.Kind() != reflect.Struct {
		return false
	}
	for i := range v.NumField() {
		if f := v.Field(i); v.Type().Field(i).Anonymous && f.Type() == reflect.TypeFor[agent.Context]() && !f.IsNil() && isRestricted(f.Elem()) {
			return true
		}
	}
	return false
}
