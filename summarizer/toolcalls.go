package summarizer

import (
	"slices"
	"strings"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/recalled"
)

// toolCall is one call and its outcome.
type toolCall struct {
	name    string
	outcome string
	args    []string // "key=value", the most useful first
	result  []string
}

// interrupted is the outcome of a call that never got a response.
const interrupted = "interrupted, result unknown"

// toolLog pairs calls with their responses, in the order of the calls.
type toolLog struct {
	calls []*toolCall
	open  map[string]*toolCall // by call ID; providers reuse IDs, and the newest call counts
	// whole has the results that the window has shortened, in their order.
	whole []wholeResult
}

func (t *toolLog) add(ev *session.Event) {
	if ev == nil || ev.Content == nil {
		return
	}
	for _, p := range ev.Content.Parts {
		if p == nil {
			continue
		}
		if c := p.FunctionCall; c != nil {
			call := t.call(c.ID, c.Name, c.Args)
			if c.ID != "" && !slices.Contains(ev.LongRunningToolIDs, c.ID) {
				call.outcome = interrupted // unless a response follows
			}
		}
		if line, ok := recalled.Line(p.FunctionResponse); ok {
			t.response(p.FunctionResponse.ID, p.FunctionResponse.Name, map[string]any{"result": line})
		} else if r := p.FunctionResponse; r != nil {
			t.response(r.ID, r.Name, r.Response)
		}
		if c := p.ToolCall; c != nil {
			t.call(c.ID, string(c.ToolType), c.Args)
		}
		if r := p.ToolResponse; r != nil {
			t.response(r.ID, string(r.ToolType), r.Response)
		}
		if c := p.ExecutableCode; c != nil {
			t.call(c.ID, "code", nil)
		}
		if r := p.CodeExecutionResult; r != nil {
			t.codeResult(r)
		}
	}
}

func (t *toolLog) call(id, name string, args map[string]any) *toolCall {
	c := &toolCall{name: label(name, "unnamed tool"), outcome: "no response", args: keyValues(args)}
	t.calls = append(t.calls, c)
	if t.open == nil {
		t.open = map[string]*toolCall{}
	}
	t.open[callKey(id, name)] = c
	return c
}

// callKey identifies a call by its ID or, if the provider gives none, by its name.
func callKey(id, name string) string {
	if id != "" {
		return "id:" + id
	}
	return "name:" + name
}

// response completes its call. If the call is not in the window, the response becomes an entry of
// its own.
func (t *toolLog) response(id, name string, response map[string]any) {
	c := t.open[callKey(id, name)]
	if c == nil {
		c = t.call(id, name, nil)
	}
	ref, rest := refOf(response)
	c.outcome, c.result = outcomeOf(rest)
	if ref != "" {
		t.whole = append(t.whole, wholeResult{c.name, ref})
	}
}

func (t *toolLog) codeResult(r *genai.CodeExecutionResult) {
	c := t.open[callKey(r.ID, "code")]
	if c == nil {
		c = t.call(r.ID, "code", nil)
	}
	c.outcome = "ok"
	if r.Outcome != genai.OutcomeOK && r.Outcome != genai.OutcomeUnspecified && r.Outcome != "" {
		c.outcome = "error"
	}
}

// outcomeOf reads the outcome of a response from the "error" key that ADK uses, or from other
// common keys.
func outcomeOf(response map[string]any) (outcome string, result []string) {
	result = keyValues(response)
	for _, key := range []string{"error", "isError", "is_error"} {
		if v, ok := response[key]; ok && v != nil && v != false && v != "" {
			return "error", result
		}
	}
	if status, ok := response["status"].(string); ok && slices.Contains([]string{"error", "failed", "failure"}, strings.ToLower(status)) {
		return "error", result
	}
	if response["success"] == false || response["ok"] == false {
		return "error", result
	}
	for _, v := range response {
		if text, ok := v.(string); ok && len(text) >= 5 && strings.EqualFold(text[:5], "error") {
			return "error", result
		}
	}
	return "ok", result
}
