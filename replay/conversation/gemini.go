package conversation

import "google.golang.org/genai"

// readContents reads Gemini-style contents, and the instruction of the request.
func (rec *recording) readContents(fields object) error {
	config, err := fields["config"].object("config")
	if err != nil {
		return err
	}
	for _, v := range []value{fields["systeminstruction"], config["systeminstruction"]} {
		text, err := instructionIn(v)
		if err != nil {
			return err
		}
		if text != "" {
			rec.instruction = append(rec.instruction, text)
		}
	}
	list, err := fields["contents"].list("contents")
	if err != nil {
		return err
	}
	for i, entry := range list {
		m := message{place: place{index: i, column: entry.at + 1}}
		content, err := contentIn("the content", entry)
		if err != nil {
			return inMessage(err, m.place)
		}
		switch content.Role {
		case "user", "":
			m.from = user
		case "model":
			m.from = agent
		case "function", "tool":
			m.from = tool
		default:
			return inMessage(entry.fail("role %q is unknown; expected user, model, function or tool", content.Role), m.place)
		}
		m.take(content.Parts)
		rec.messages = append(rec.messages, m)
	}
	return nil
}

// take adds parts to a message: function responses to its results, all others to its parts.
func (m *message) take(parts []*genai.Part) {
	for _, part := range parts {
		switch {
		case nothing(part):
		case part.FunctionResponse != nil:
			m.results = append(m.results, result{place: m.place, FunctionResponse: part.FunctionResponse})
		default:
			m.parts = append(m.parts, part)
		}
	}
}

// instructionIn reads a system instruction: a content, a list of parts, or a string.
func instructionIn(v value) (string, error) {
	switch {
	case v.missing() || v.is('"'):
		return v.text("systemInstruction")
	case v.is('['):
		parts, err := partsIn("systemInstruction", v)
		return joined(parts), err
	}
	content, err := contentIn("systemInstruction", v)
	if err != nil {
		return "", err
	}
	return joined(content.Parts), nil
}
