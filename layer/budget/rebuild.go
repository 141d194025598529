package budget

import (
	"context"
	"sync"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/toolconfirmation"
)

// capture is a request that is being built again. It is in the context of a run of the agent that ends at
// the model: the wrapper keeps the request and yields nothing.
type capture struct {
	model      *metered
	agent      string
	branch     string
	invocation string

	mu  sync.Mutex
	req *model.LLMRequest // nil until captured
}

type captureKey struct{}

// captureIn returns the capture that a context belongs to, nil for none.
func captureIn(ctx context.Context) *capture {
	if ctx == nil {
		return nil
	}
	c, _ := ctx.Value(captureKey{}).(*capture)
	return c
}

// rebuild runs the agent of a context again, up to its model call, and returns the request that it builds.
// It returns nil if the agent builds none, for example because a callback answers in its place.
func (w *metered) rebuild(ic agent.InvocationContext) *model.LLMRequest {
	c := &capture{model: w, agent: ic.Agent().Name(), branch: adk.LaneOf(ic), invocation: ic.InvocationID()}
	again := ic.WithContext(context.WithValue(ic, captureKey{}, c))
	for range ic.Agent().Run(again) {
		// Events of the agent's callbacks are of no use here: they have been stored the first time. An
		// event behind the capture means that something else calls models or tools. Stop it.
		if c.captured() != nil {
			break
		}
	}
	return c.captured()
}

func (c *capture) captured() *model.LLMRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.req
}

// captures keeps a request that is being built again, and reports whether it is one. A callback or an
// instruction provider may call a wrapped model for purposes of its own; those calls are made as ever.
func (w *metered) captures(ctx context.Context, req *model.LLMRequest) bool {
	c := captureIn(ctx)
	if c == nil || c.model != w {
		return false
	}
	ic := adk.Invocation(ctx)
	if ic == nil || ic.Agent() == nil || ic.Agent().Name() != c.agent || adk.LaneOf(ic) != c.branch || ic.InvocationID() != c.invocation {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.req == nil {
		c.req = req
	}
	return true
}

// guardRun notes that the meter's plugin sees a run, so guardTool will see its tools.
func (m *Meter) guardRun(ctx agent.InvocationContext) (*genai.Content, error) {
	// A panic here would reach the caller of Run.
	defer m.places.Survive("budget: before a run")
	m.guarded.Add(ctx.InvocationID(), struct{}{})
	return nil, nil
}

// guardTool keeps tools from running while a request is built again. ADK resumes an approved tool when it
// builds a request, unless its result is already in the session.
func (m *Meter) guardTool(ctx agent.ToolContext, _ tool.Tool, _ map[string]any) (map[string]any, error) {
	if captureIn(ctx) == nil {
		return nil, nil
	}
	return map[string]any{"status": "not run: the request is only being built again"}, nil
}

// cannotRebuild returns why running the agent again could do harm, "" if it cannot.
func (m *Meter) cannotRebuild(ic agent.InvocationContext) string {
	switch {
	case ic.RunConfig() == nil:
		return "the agent was not started by a runner"
	case ic.Ended():
		return "the invocation has ended"
	case ic.Err() != nil:
		return "the call's context has ended"
	case !m.guarded.Contains(ic.InvocationID()) && answersConfirmation(ic):
		return "the user has just approved a tool, and without the meter's plugin it could run twice"
	}
	return ""
}

// answersConfirmation reports whether ADK could resume a tool when it builds a request: the newest event of
// the user answers a request for confirmation.
func answersConfirmation(ic agent.InvocationContext) bool {
	events := ic.Session().Events()
	for i := events.Len() - 1; i >= 0; i-- {
		ev := events.At(i)
		if ev == nil || ev.Author != "user" {
			continue
		}
		if ev.Content == nil {
			return false
		}
		for _, part := range ev.Content.Parts {
			if part != nil && part.FunctionResponse != nil && part.FunctionResponse.Name == toolconfirmation.FunctionCallName {
				return true
			}
		}
		return false
	}
	return false
}
