package guard

import (
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/notes"
)

// structuredTool is the tool by which ADK lets a model with tools answer in a schema. It only takes the
// answer, so a landing leaves it on.
const structuredTool = "set_model_response"

// landed returns the request of a last call: tools stay declared, so that the provider's cache keeps hitting,
// and may not be called. req is not changed.
func (c *call) landed(req *model.LLMRequest) *model.LLMRequest {
	out := *req
	var cfg genai.GenerateContentConfig
	if req.Config != nil {
		cfg = *req.Config
	}
	off := &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}
	if _, structured := req.Tools[structuredTool]; structured {
		off = &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{structuredTool}}
	}
	if len(cfg.Tools) > 0 {
		var toolConfig genai.ToolConfig
		if cfg.ToolConfig != nil {
			toolConfig = *cfg.ToolConfig
		}
		toolConfig.FunctionCallingConfig = off
		cfg.ToolConfig = &toolConfig
	}
	out.Config = &cfg
	out.Contents = withLandingNote(req.Contents, landingNote(c.payer.Outlook(c.g.cfg.Now()).Use))
	return &out
}

// withLandingNote returns contents whose newest tool results have the note, if they have none yet.
func withLandingNote(contents []*genai.Content, note string) []*genai.Content {
	if len(contents) == 0 || contents[len(contents)-1] == nil {
		return contents
	}
	newest := *contents[len(contents)-1]
	parts := make([]*genai.Part, len(newest.Parts))
	for i, p := range newest.Parts {
		parts[i] = p
		if p == nil || p.FunctionResponse == nil {
			continue
		}
		if text, _ := p.FunctionResponse.Response[notes.BudgetKey].(string); isLandingNote(text) {
			return contents
		}
		part, response := *p, *p.FunctionResponse
		part.FunctionResponse = &response
		parts[i] = &part
	}
	newest.Parts = parts
	if !notes.Budget.Into(&newest, note, adk.IsExempt) {
		return contents
	}
	out := append([]*genai.Content(nil), contents...)
	out[len(out)-1] = &newest
	return out
}

// withoutCalls returns a response to a last call: models that disobey call tools all the same. If nothing else
// is in a complete response, it says why. resp is not changed.
func (c *call) withoutCalls(resp *model.LLMResponse) *model.LLMResponse {
	if resp == nil || resp.Content == nil {
		return resp
	}
	var parts []*genai.Part
	dropped, said := false, false
	for _, p := range resp.Content.Parts {
		if p != nil && p.FunctionCall != nil && p.FunctionCall.Name != structuredTool {
			dropped = true
			continue
		}
		parts = append(parts, p)
		said = said || p != nil && (p.Text != "" && !p.Thought || p.FunctionCall != nil || p.InlineData != nil || p.FileData != nil)
	}
	if !dropped {
		return resp
	}
	out, content := *resp, *resp.Content
	if !said && !resp.Partial {
		parts = append(parts, &genai.Part{Text: c.stopText()})
	}
	content.Parts = parts
	out.Content = &content
	return &out
}

// stopText is the answer of an agent that has none.
func (c *call) stopText() string {
	if stop := c.payer.Stopped(c.g.cfg.Now()); stop != nil {
		return "[Stopped: " + reached[Kind(stop.Kind)] + " The work is unfinished.]"
	}
	return "[Stopped: the next model call would not fit under the limits of this run. The work is unfinished.]"
}
