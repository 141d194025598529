package toolsearch

import (
	"slices"
	"strings"

	"google.golang.org/genai"
)

// contents returns contents as the model sees them, and whether they differ. Contents that do not change
// are those of in; nothing in them is changed in place.
func (b *bridge) contents(in []*genai.Content) (out []*genai.Content, changed bool) {
	out = in
	var open openCalls
	for i, content := range in {
		translated := b.content(content, &open)
		if translated == content {
			continue
		}
		if !changed {
			out, changed = slices.Clone(in), true
		}
		out[i] = translated
	}
	return out, changed
}

// content returns one content as the model sees it.
func (b *bridge) content(in *genai.Content, open *openCalls) *genai.Content {
	if in == nil {
		return nil
	}
	out, begun := in, false
	for i, part := range in.Parts {
		translated := part
		switch {
		case part == nil:
			continue
		case part.FunctionCall != nil:
			if !begun {
				open.clear()
				begun = true
			}
			bridged := b.bridges(part.FunctionCall.Name)
			open.add(part.FunctionCall, bridged)
			if bridged {
				translated = withCall(part, throughTool(part.FunctionCall))
			}
		case part.FunctionResponse != nil:
			response := part.FunctionResponse
			bridged, paired := open.answeredBy(response)
			if !paired {
				bridged = b.bridges(response.Name)
			}
			if bridged && response.Name != CallToolName {
				renamed := *response
				renamed.Name = CallToolName
				p := *part
				p.FunctionResponse = &renamed
				translated = &p
			}
		}
		if translated == part {
			continue
		}
		if out == in {
			clone := *in
			clone.Parts = slices.Clone(in.Parts)
			out = &clone
		}
		out.Parts[i] = translated
	}
	return out
}

// withCall returns a part with another call: its signature and all else stay.
func withCall(part *genai.Part, call *genai.FunctionCall) *genai.Part {
	p := *part
	p.FunctionCall = call
	return &p
}

// throughTool returns a call of a tool as the call of tool_call that means it. Arguments are always present:
// storage does not tell an empty object from none.
func throughTool(call *genai.FunctionCall) *genai.FunctionCall {
	args := call.Args
	if args == nil {
		args = map[string]any{}
	}
	out := *call
	out.Name = CallToolName
	out.Args = map[string]any{nameKey: call.Name, argumentsKey: args}
	if len(call.PartialArgs) > 0 {
		out.PartialArgs = make([]*genai.PartialArg, len(call.PartialArgs))
		for i, arg := range call.PartialArgs {
			if arg == nil {
				continue
			}
			moved := *arg
			moved.JsonPath = "$." + argumentsKey + strings.TrimPrefix(arg.JsonPath, "$")
			out.PartialArgs[i] = &moved
		}
	}
	return &out
}

// openCalls are the calls of the latest content that has any, while their responses come in.
type openCalls struct{ calls []openCall }

type openCall struct {
	id, name          string
	bridged, answered bool
}

func (o *openCalls) clear() { o.calls = o.calls[:0] }

func (o *openCalls) add(call *genai.FunctionCall, bridged bool) {
	o.calls = append(o.calls, openCall{id: call.ID, name: call.Name, bridged: bridged})
}

// answeredBy returns whether the call that a response answers is bridged. The response has the ID of its
// call. ADK removes the IDs that it has made itself, so without one the name decides, and then the order.
func (o *openCalls) answeredBy(response *genai.FunctionResponse) (bridged, paired bool) {
	for _, matches := range []func(openCall) bool{
		func(c openCall) bool { return c.id != "" && c.id == response.ID },
		func(c openCall) bool { return (c.id == "" || response.ID == "") && c.name == response.Name },
		func(c openCall) bool { return c.id == "" && response.ID == "" },
	} {
		if i := slices.IndexFunc(o.calls, func(c openCall) bool { return !c.answered && matches(c) }); i >= 0 {
			o.calls[i].answered = true
			return o.calls[i].bridged, true
		}
	}
	return false, false
}
