package toolsearch_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/layer/toolsearch"
)

// call is the context of one call of a tool.
type call struct {
	agent.ToolContext
	ctx     context.Context
	actions *session.EventActions
	run     run
}

func (c call) Deadline() (time.Time, bool)    { return c.ctx.Deadline() }
func (c call) Done() <-chan struct{}          { return c.ctx.Done() }
func (c call) Err() error                     { return c.ctx.Err() }
func (c call) Value(key any) any              { return c.ctx.Value(key) }
func (c call) Actions() *session.EventActions { return c.actions }
func (c call) AppName() string                { return c.run.AppName() }
func (c call) UserID() string                 { return c.run.UserID() }
func (c call) SessionID() string              { return c.run.SessionID() }
func (c call) AgentName() string              { return c.run.AgentName() }
func (c call) Branch() string                 { return c.run.Branch() }
func (c call) InvocationID() string           { return c.run.InvocationID() }

// runGrouped runs a tool of a group.
func runGrouped(t *testing.T, timeout time.Duration, ctx context.Context, do func(ctx agent.ToolContext) (map[string]any, error)) (map[string]any, *session.EventActions, error) {
	t.Helper()
	ts := toolset(func(agent.ReadonlyContext) ([]tool.Tool, error) { return []tool.Tool{fn{idle: "t", do: do}}, nil })
	g := group(t, toolsearch.GroupConfig{Toolset: ts, CallTimeout: timeout})
	tools, _ := g.Tools(run{Context: t.Context()})
	actions := &session.EventActions{}
	result, err := tools[0].(runner).Run(call{ctx: ctx, actions: actions}, map[string]any{})
	return result, actions, err
}

func TestACallOfAGroupedToolReturnsWhatTheToolReturns(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{0, time.Hour, toolsearch.Off} {
		result, actions, err := runGrouped(t, timeout, t.Context(), func(ctx agent.ToolContext) (map[string]any, error) {
			ctx.Actions().Escalate = true
			return map[string]any{"n": 1}, nil
		})
		if err != nil || result["n"] != 1 || !actions.Escalate {
			t.Errorf("%v: %v, %v, %+v", timeout, result, err, actions)
		}
		own := errors.New("own")
		if _, _, err := runGrouped(t, timeout, t.Context(), func(agent.ToolContext) (map[string]any, error) { return nil, own }); !errors.Is(err, own) {
			t.Errorf("%v: the tool's error is lost: %v", timeout, err)
		}
		if _, _, err := runGrouped(t, timeout, t.Context(), func(agent.ToolContext) (map[string]any, error) { panic("own") }); err == nil || !strings.Contains(err.Error(), "own") {
			t.Errorf("%v: a panic becomes %v", timeout, err)
		}
	}
	if _, _, err := runGrouped(t, time.Hour, t.Context(), func(agent.ToolContext) (map[string]any, error) { runtime.Goexit(); return nil, nil }); err == nil {
		t.Error("a tool that ends its goroutine has no error")
	}
}

func TestACallThatHangsEnds(t *testing.T) {
	t.Parallel()
	obeys := func(ctx agent.ToolContext) (map[string]any, error) { <-ctx.Done(); return nil, ctx.Err() }
	_, _, err := runGrouped(t, time.Millisecond, t.Context(), obeys)
	if err == nil || !strings.HasPrefix(err.Error(), "the tool did not answer in time") {
		t.Errorf("the model reads %v", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := runGrouped(t, time.Hour, canceled, obeys); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled turn: %v", err)
	}
}

// A tool that ignores its context is left behind. What it does to its event from then on reaches nothing.
func TestAToolThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	t.Parallel()
	release, ended := make(chan struct{}), make(chan struct{})
	var late agent.ToolContext
	_, actions, err := runGrouped(t, time.Millisecond, t.Context(), func(ctx agent.ToolContext) (map[string]any, error) {
		defer close(ended)
		<-release
		ctx.Actions().Escalate = true
		late = ctx
		return nil, nil
	})
	close(release)
	<-ended
	if err == nil || !strings.HasPrefix(err.Error(), "the tool did not answer in time") {
		t.Errorf("the model reads %v", err)
	}
	if actions.Escalate || late.State() != nil || late.RequestConfirmation("", nil) == nil {
		t.Error("a tool changes an event that is written already")
	}
}
