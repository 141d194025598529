package openai

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
)

// The protocol: https://platform.openai.com/docs/api-reference/chat
type (
	request struct {
		Model          string         `json:"model"`
		Messages       []message      `json:"messages"`
		Tools          []toolDef      `json:"tools,omitempty"`
		ToolChoice     string         `json:"tool_choice,omitempty"`
		Temperature    *float32       `json:"temperature,omitempty"`
		TopP           *float32       `json:"top_p,omitempty"`
		MaxTokens      int32          `json:"max_tokens,omitempty"`
		Stop           []string       `json:"stop,omitempty"`
		Seed           *int32         `json:"seed,omitempty"`
		ResponseFormat map[string]any `json:"response_format,omitempty"`
		Stream         bool           `json:"stream,omitempty"`
		StreamOptions  map[string]any `json:"stream_options,omitempty"`
	}
	message struct {
		Role       string     `json:"role"`
		Content    any        `json:"content"` // a string, a list of parts, or nil
		ToolCalls  []toolCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	toolCall struct {
		Index    int    `json:"index,omitempty"` // of a streamed part
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string    `json:"name"`
			Arguments arguments `json:"arguments"`
		} `json:"function"`
	}
	// arguments are JSON within a text. Some servers answer with the JSON itself.
	arguments string
	toolDef   struct {
		Type     string         `json:"type"`
		Function map[string]any `json:"function"`
	}
)

// UnmarshalJSON takes both forms.
func (a *arguments) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		*a = arguments(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

// encode writes a request of ADK in the protocol.
func encode(name string, req *model.LLMRequest, stream bool) (io.Reader, error) {
	r := request{Model: name, Stream: stream}
	if stream {
		r.StreamOptions = map[string]any{"include_usage": true}
	}
	if cfg := req.Config; cfg != nil {
		if text := textOf(cfg.SystemInstruction); text != "" {
			r.Messages = append(r.Messages, message{Role: "system", Content: text})
		}
		if err := r.configure(cfg); err != nil {
			return nil, err
		}
	}
	r.Messages = append(r.Messages, messagesOf(req.Contents)...)
	r.rename()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("the request cannot be written as JSON: %w", err)
	}
	return &b, nil
}

// configure takes over what the protocol has words for.
func (r *request) configure(cfg *genai.GenerateContentConfig) error {
	r.Temperature, r.TopP, r.MaxTokens, r.Stop, r.Seed = cfg.Temperature, cfg.TopP, cfg.MaxOutputTokens, cfg.StopSequences, cfg.Seed
	for _, t := range cfg.Tools {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			f := map[string]any{"name": d.Name, "description": d.Description}
			switch {
			case d.ParametersJsonSchema != nil:
				f["parameters"] = d.ParametersJsonSchema
			case d.Parameters != nil:
				schema, err := jsonSchema(d.Parameters)
				if err != nil {
					return fmt.Errorf("the parameters of tool %s: %w", d.Name, err)
				}
				f["parameters"] = schema
			default:
				f["parameters"] = map[string]any{"type": "object", "properties": map[string]any{}}
			}
			r.Tools = append(r.Tools, toolDef{"function", f})
		}
	}
	if len(r.Tools) > 0 && cfg.ToolConfig != nil && cfg.ToolConfig.FunctionCallingConfig != nil {
		switch cfg.ToolConfig.FunctionCallingConfig.Mode {
		case genai.FunctionCallingConfigModeNone:
			r.ToolChoice = "none"
		case genai.FunctionCallingConfigModeAny:
			r.ToolChoice = "required"
		}
	}
	return r.format(cfg)
}

// format asks for JSON where the agent has an output schema.
func (r *request) format(cfg *genai.GenerateContentConfig) error {
	schema := cfg.ResponseJsonSchema
	if schema == nil && cfg.ResponseSchema != nil {
		var err error
		if schema, err = jsonSchema(cfg.ResponseSchema); err != nil {
			return fmt.Errorf("the output schema: %w", err)
		}
	}
	switch {
	case schema != nil:
		r.ResponseFormat = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": schema}}
	case cfg.ResponseMIMEType == "application/json":
		r.ResponseFormat = map[string]any{"type": "json_object"}
	}
	return nil
}

// jsonSchema writes a schema of genai as JSON Schema: names of types in lower case, null as one of the types, and
// lengths as numbers.
func jsonSchema(s *genai.Schema) (any, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	return plainSchema(v), nil
}

func plainSchema(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if kind, ok := m["type"].(string); ok {
		m["type"] = strings.ToLower(kind)
		if m["nullable"] == true {
			m["type"] = []any{strings.ToLower(kind), "null"}
		}
	}
	delete(m, "nullable")
	delete(m, "propertyOrdering")
	for _, key := range []string{"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"} {
		if text, ok := m[key].(string); ok {
			m[key] = json.Number(text)
		}
	}
	if items, ok := m["items"]; ok {
		m["items"] = plainSchema(items)
	}
	if properties, ok := m["properties"].(map[string]any); ok {
		for name, p := range properties {
			properties[name] = plainSchema(p)
		}
	}
	if anyOf, ok := m["anyOf"].([]any); ok {
		for i, p := range anyOf {
			anyOf[i] = plainSchema(p)
		}
	}
	return m
}

// messagesOf writes contents as messages. ADK takes the IDs of calls away that it has made itself, and the protocol
// needs one for each: it is made from the number of the call, so that the same history has the same IDs.
func messagesOf(contents []*genai.Content) (out []message) {
	var open []pending
	made := 0
	for _, c := range contents {
		if c == nil {
			continue
		}
		var said []*genai.Part
		var calls []toolCall
		for _, p := range c.Parts {
			switch {
			case p == nil || p.Thought:
			case p.FunctionCall != nil:
				id := p.FunctionCall.ID
				if id == "" {
					made++
					id = fmt.Sprintf("call_%d", made)
				}
				calls = append(calls, callOf(id, p.FunctionCall))
				open = append(open, pending{p.FunctionCall.ID, p.FunctionCall.Name, id})
			case p.FunctionResponse != nil:
				var id string
				id, open = answered(open, p.FunctionResponse)
				out = append(out, message{Role: "tool", ToolCallID: id, Content: jsonText(p.FunctionResponse.Response)})
			default:
				said = append(said, p)
			}
		}
		switch {
		case c.Role == genai.RoleModel && (len(calls) > 0 || len(said) > 0):
			m := message{Role: "assistant", ToolCalls: calls}
			if text := textOf(&genai.Content{Parts: said}); text != "" {
				m.Content = text
			}
			out = append(out, m)
		case len(said) > 0:
			out = append(out, message{Role: "user", Content: partsOf(said)})
		}
	}
	return out
}

// pending is a call without its response.
type pending struct{ id, name, sent string }

// answered returns the ID under which the call of a response was sent, and the other open calls.
func answered(open []pending, resp *genai.FunctionResponse) (string, []pending) {
	for i, p := range open {
		if p.id == resp.ID && (p.id != "" || p.name == resp.Name) {
			return p.sent, append(open[:i:i], open[i+1:]...)
		}
	}
	return resp.ID, open
}

// maxName is how many characters the protocol allows for the name of a function.
const maxName = 64

// rename gives names that the protocol allows to calls of tools that do not exist: a model may call anything, and a
// server that refuses the name would refuse the conversation from then on. Names that are declared stay as they are.
func (r *request) rename() {
	for _, m := range r.Messages {
		for i := range m.ToolCalls {
			name := &m.ToolCalls[i].Function.Name
			to := allowed(*name)
			if to != *name && !slices.ContainsFunc(r.Tools, func(t toolDef) bool { return t.Function["name"] == *name }) {
				*name = to
			}
		}
	}
}

// allowed returns a name as the protocol allows it: name itself if it does.
func allowed(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), maxName)], "_")
}

func callOf(id string, call *genai.FunctionCall) toolCall {
	c := toolCall{ID: id, Type: "function"}
	c.Function.Name = call.Name
	c.Function.Arguments = "{}"
	if len(call.Args) > 0 {
		c.Function.Arguments = arguments(jsonText(call.Args))
	}
	return c
}

func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf("%v", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// textOf joins the texts of a content.
func textOf(c *genai.Content) string {
	if c == nil {
		return ""
	}
	var texts []string
	for _, p := range c.Parts {
		if p != nil && p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// partsOf is the content of a user's message: a text, or parts if there are images. Other media have no place in the
// protocol, and a note says so.
func partsOf(parts []*genai.Part) any {
	media := false
	for _, p := range parts {
		media = media || p.InlineData != nil || p.FileData != nil
	}
	if !media {
		return textOf(&genai.Content{Parts: parts})
	}
	var out []map[string]any
	for _, p := range parts {
		switch {
		case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
			data := "data:" + p.InlineData.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.InlineData.Data)
			out = append(out, map[string]any{"type": "image_url", "image_url": map[string]any{"url": data}})
		case p.InlineData != nil:
			out = append(out, map[string]any{"type": "text", "text": "[left out: an attachment of type " + p.InlineData.MIMEType + "]"})
		case p.FileData != nil:
			out = append(out, map[string]any{"type": "text", "text": "[left out: the file " + p.FileData.FileURI + "]"})
		case p.Text != "":
			out = append(out, map[string]any{"type": "text", "text": p.Text})
		}
	}
	return out
}
