package conversation

import (
	"encoding/json"

	"google.golang.org/genai"
)

// readMessages reads OpenAI-style messages.
func (rec *recording) readMessages(v value) error {
	list, err := v.list("messages")
	if err != nil {
		return err
	}
	for i, entry := range list {
		where := place{index: i, column: entry.at + 1}
		if err := rec.readMessage(entry, where); err != nil {
			return inMessage(err, where)
		}
	}
	return nil
}

func (rec *recording) readMessage(v value, where place) error {
	if !v.is('{') {
		return v.want("the message", "an object with a role")
	}
	fields, err := v.object("the message")
	if err != nil {
		return err
	}
	role, err := fields["role"].text("role")
	if err != nil {
		return err
	}
	m := message{place: where}
	var ok bool
	if m.time, ok = momentIn(fields["ts"]); !ok {
		rec.notes.add("times (ts) that could not be read, left out", 1)
	}
	if m.parts, err = openaiContent(fields["content"]); err != nil {
		return err
	}
	switch role {
	case "system", "developer":
		m.from = system
	case "user":
		m.from, m.summary = user, fields["compactsummary"].truth()
	case "assistant":
		m.from = agent
		err = m.readAssistant(fields)
	case "tool", "function":
		m.from = tool
		err = m.readToolResult(fields)
	default:
		return v.fail("role %q is unknown; expected system, developer, user, assistant, tool or function", role)
	}
	if err != nil {
		return err
	}
	rec.messages = append(rec.messages, m)
	return nil
}

// readAssistant reads the fields that only the model's messages have: thoughts, which come before
// the text, calls, which come after it, and token counts.
func (m *message) readAssistant(fields object) error {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		v := fields[fold(field)]
		if !v.is('"') { // some providers keep data of their own here
			continue
		}
		thought, err := v.text(field)
		if err != nil {
			return err
		}
		if thought != "" {
			m.parts = append([]*genai.Part{{Text: thought, Thought: true}}, m.parts...)
			break // some providers write both, with the same text
		}
	}
	calls, err := fields["toolcalls"].list("tool_calls")
	if err != nil {
		return err
	}
	for i, v := range calls {
		where := element("tool_calls", i)
		call, err := v.object(where)
		if err != nil {
			return err
		}
		id, err := call["id"].text(where + ".id")
		if err != nil {
			return err
		}
		if err := m.readCall(where+".function", id, v, call["function"]); err != nil {
			return err
		}
	}
	if old := fields["functioncall"]; !old.missing() {
		if err := m.readCall("function_call", "", old, old); err != nil {
			return err
		}
	}
	m.prompt, m.output, err = usageIn("usage", fields["usage"])
	return err
}

func (m *message) readCall(name, id string, around, v value) error {
	if !v.is('{') {
		return around.fail("%s is %s; expected {name, arguments}", name, v.kind())
	}
	function, err := v.object(name)
	if err != nil {
		return err
	}
	call := &genai.FunctionCall{ID: id}
	if call.Name, err = function["name"].text(name + ".name"); err != nil {
		return err
	}
	if call.Args, err = openaiArguments(name+".arguments", function["arguments"]); err != nil {
		return err
	}
	m.parts = append(m.parts, &genai.Part{FunctionCall: call})
	return nil
}

// openaiArguments reads arguments: a string as the model wrote it, which may not be an object or
// even JSON.
func openaiArguments(name string, v value) (map[string]any, error) {
	if v.is('{') {
		return v.mapping(name)
	}
	args := map[string]any{}
	text := string(v.json)
	switch {
	case v.missing():
		return args, nil
	case v.is('"'):
		text = unquote(v.json)
	}
	if text == "" {
		return args, nil
	}
	if err := json.Unmarshal([]byte(text), &args); err != nil || args == nil {
		return map[string]any{"arguments": text}, nil
	}
	return args, nil
}

// readToolResult turns the content of the message into the result of a call.
func (m *message) readToolResult(fields object) error {
	response := &genai.FunctionResponse{}
	var err error
	if response.ID, err = fields["toolcallid"].text("tool_call_id"); err != nil {
		return err
	}
	if response.Name, err = fields["name"].text("name"); err != nil {
		return err
	}
	fillResponse(response, m.parts, fields["iserror"].truth())
	m.parts, m.results = nil, []result{{place: m.place, FunctionResponse: response}}
	return nil
}

// fillResponse fills a response from the parts of a tool's message. JSON stays text, so that its
// size is that of the text which the model read.
func fillResponse(response *genai.FunctionResponse, parts []*genai.Part, failed bool) {
	key := "result"
	if failed {
		key = "error"
	}
	response.Response = map[string]any{key: joined(parts)}
	for _, part := range parts {
		switch {
		case part.InlineData != nil:
			blob := &genai.FunctionResponseBlob{Data: part.InlineData.Data, MIMEType: part.InlineData.MIMEType}
			response.Parts = append(response.Parts, &genai.FunctionResponsePart{InlineData: blob})
		case part.FileData != nil:
			file := &genai.FunctionResponseFileData{FileURI: part.FileData.FileURI, MIMEType: part.FileData.MIMEType}
			response.Parts = append(response.Parts, &genai.FunctionResponsePart{FileData: file})
		}
	}
}
