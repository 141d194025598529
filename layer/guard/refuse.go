package guard

import (
	"context"
	"errors"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// reached is, for each kind, the sentence that says what is reached.
var reached = map[Kind]string{
	CostCeiling: "the cost ceiling is reached.",
	ModelCalls:  "the limit of model calls is reached.",
	TokenLimit:  "the token limit is reached.",
	WallTime:    "the time limit is reached.",
	Watchdog:    "the agent repeats itself.",
}

// notRun is the result of a tool call that comes after a bound is reached, as in
// {"error":"not run: the cost ceiling is reached"}.
func notRun(kind Kind) map[string]any {
	sentence := reached[kind]
	return map[string]any{"error": "not run: " + sentence[:len(sentence)-1]}
}

// stopError returns the error of a stop.
func stopError(s *ledger.Stop) *StopError {
	if s == nil {
		return nil
	}
	return &StopError{Kind: Kind(s.Kind), Scope: Scope(s.Scope), Spent: s.Spent, Bound: s.Bound, Landed: s.Landed}
}

// refuse returns what a refused call answers with: the error, or an event, as Config.OnStop says. From the
// second refusal in a branch on, it is a call of a tool that ends a loop: ADK's LoopAgent goes on after errors
// as long as its consumer does. Without a request, or one that has no place for the tool, the loop is not ended.
func (g *Guard) refuse(ctx context.Context, who caller, p ledger.Payer, req *model.LLMRequest, err error) (*model.LLMResponse, error) {
	if !errors.Is(err, ErrStopped) {
		return nil, err
	}
	o := who.observation(Refused, p)
	o.Err = err
	var stop *StopError
	if errors.As(err, &stop) {
		o.Stop = stop
	}
	g.observe(ctx, o)
	again := req != nil && p.Refused(who.ref.SessionID+" "+who.branch) > 1
	if again && req.Tools != nil {
		req.Tools[stopToolName] = stopTool{err.Error()}
		call := &genai.Part{FunctionCall: &genai.FunctionCall{Name: stopToolName, Args: map[string]any{}}}
		return &model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{call}}}, nil
	}
	if g.cfg.OnStop == AsEvent && !again { // an agent that runs as a tool ends at an error
		return &model.LLMResponse{ErrorCode: errorCode(err), ErrorMessage: err.Error(), CustomMetadata: stop.metadata()}, nil
	}
	return nil, err
}

// errorCode is the code of an event that stands for an error.
func errorCode(err error) string {
	var stop *StopError
	if errors.As(err, &stop) {
		return string(stop.Kind)
	}
	return "unpriced_model"
}

// stopToolName is the name of the tool that ends loops.
const stopToolName = "stop_at_limit"

// stopTool ends the loop around the agent that calls it. It is never declared to a model.
type stopTool struct{ reason string }

func (stopTool) Name() string        { return stopToolName }
func (stopTool) Description() string { return "Ends the run at a limit." }
func (stopTool) IsLongRunning() bool { return false }

// Declaration returns what a declaration would be.
func (t stopTool) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: t.Name(), Description: t.Description()}
}

// ProcessRequest declares nothing.
func (stopTool) ProcessRequest(agent.ToolContext, *model.LLMRequest) error { return nil }

// Run ends the loop.
func (t stopTool) Run(ctx agent.ToolContext, _ any) (map[string]any, error) {
	if actions := ctx.Actions(); !adk.IsNil(actions) {
		actions.Escalate, actions.SkipSummarization = true, true
	}
	return map[string]any{"error": t.reason}, nil
}
