package toolsearch

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// calls remembers how the calls of one model call were translated. ADK's stream shows a call in a partial
// response, and the same again in the final one. Both must become one call, because ADK gives calls their
// IDs in place.
type calls map[*genai.FunctionCall]*genai.FunctionCall

// response returns a response of the model as ADK sees it. It is resp itself if nothing in it is translated;
// resp is not changed.
func (b *bridge) response(resp *model.LLMResponse, known *calls) *model.LLMResponse {
	if b.call == nil || resp == nil || resp.Content == nil {
		return resp
	}
	out := resp
	for i, part := range resp.Content.Parts {
		if part == nil || part.FunctionCall == nil || part.FunctionCall.Name != CallToolName {
			continue
		}
		call := b.realCall(part.FunctionCall, known)
		if call == nil {
			continue
		}
		if out == resp {
			clone, content := *resp, *resp.Content
			content.Parts = slices.Clone(resp.Content.Parts)
			clone.Content = &content
			out = &clone
		}
		out.Content.Parts[i] = withCall(part, call)
	}
	return out
}

// realCall returns the call that a call of tool_call means, nil if it means none.
func (b *bridge) realCall(call *genai.FunctionCall, known *calls) *genai.FunctionCall {
	if len(call.PartialArgs) > 0 || call.WillContinue != nil && *call.WillContinue {
		return nil // a piece of a call
	}
	if found, is := (*known)[call]; is {
		return found
	}
	var out *genai.FunctionCall
	if c, wrong := b.call.resolve(call.Args); wrong == nil {
		out = &genai.FunctionCall{}
		*out = *call
		out.Name, out.Args = c.name, c.args
	}
	if *known == nil {
		*known = calls{}
	}
	(*known)[call] = out
	return out
}
