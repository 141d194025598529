package conversation

import "google.golang.org/genai"

func contentIn(name string, v value) (*genai.Content, error) {
	if !v.is('{') {
		return nil, v.want(name, "an object with a role and parts")
	}
	fields, err := v.object(name)
	if err != nil {
		return nil, err
	}
	content := &genai.Content{}
	if content.Role, err = fields["role"].text("role"); err != nil {
		return nil, err
	}
	content.Parts, err = partsIn("parts", fields["parts"])
	return content, err
}

func partsIn(name string, v value) ([]*genai.Part, error) {
	if v.is('"') || v.is('{') { // SDKs allow one part, or its text, in place of a list
		part, err := partIn(name, v)
		return []*genai.Part{part}, err
	}
	list, err := v.list(name)
	if err != nil {
		return nil, err
	}
	var parts []*genai.Part
	for i, entry := range list {
		if entry.missing() {
			continue
		}
		part, err := partIn(element(name, i), entry)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// partIn reads a part, or its text. Field names may be those of the API, Python or Go.
func partIn(name string, v value) (*genai.Part, error) {
	if v.is('"') {
		return &genai.Part{Text: unquote(v.json)}, nil
	}
	if !v.is('{') {
		return nil, v.want(name, "an object")
	}
	fields, err := v.object(name)
	if err != nil {
		return nil, err
	}
	part := &genai.Part{Thought: fields["thought"].truth()}
	if part.Text, err = fields["text"].text(name + ".text"); err != nil {
		return nil, err
	}
	if part.ThoughtSignature, err = bytesIn(name+".thoughtSignature", fields["thoughtsignature"]); err != nil {
		return nil, err
	}
	if len(part.ThoughtSignature) == 0 {
		part.ThoughtSignature = nil
	}
	if part.InlineData, err = blobIn(name+".inlineData", fields["inlinedata"]); err != nil {
		return nil, err
	}
	if part.FileData, err = fileIn(name+".fileData", fields["filedata"]); err != nil {
		return nil, err
	}
	if part.FunctionResponse, err = responseIn(name+".functionResponse", fields["functionresponse"]); err != nil {
		return nil, err
	}
	if part.FunctionCall, err = callIn(name+".functionCall", fields["functioncall"]); err != nil {
		return nil, err
	}
	for _, plain := range []struct {
		field  string
		target any
	}{
		// Field names inside these are single words, so all SDKs write them alike.
		{"executableCode", &part.ExecutableCode},
		{"codeExecutionResult", &part.CodeExecutionResult},
		{"videoMetadata", &part.VideoMetadata},
	} {
		if err := fields[fold(plain.field)].into(name+"."+plain.field, plain.target); err != nil {
			return nil, err
		}
	}
	return part, nil
}

func blobIn(name string, v value) (*genai.Blob, error) {
	fields, err := v.object(name)
	if err != nil || fields == nil {
		return nil, err
	}
	blob := &genai.Blob{}
	if blob.MIMEType, err = fields["mimetype"].text(name + ".mimeType"); err != nil {
		return nil, err
	}
	if blob.DisplayName, err = fields["displayname"].text(name + ".displayName"); err != nil {
		return nil, err
	}
	blob.Data, err = bytesIn(name+".data", fields["data"])
	return blob, err
}

func fileIn(name string, v value) (*genai.FileData, error) {
	fields, err := v.object(name)
	if err != nil || fields == nil {
		return nil, err
	}
	file := &genai.FileData{}
	if file.FileURI, err = fields["fileuri"].text(name + ".fileUri"); err != nil {
		return nil, err
	}
	if file.MIMEType, err = fields["mimetype"].text(name + ".mimeType"); err != nil {
		return nil, err
	}
	file.DisplayName, err = fields["displayname"].text(name + ".displayName")
	return file, err
}

func callIn(name string, v value) (*genai.FunctionCall, error) {
	fields, err := v.object(name)
	if err != nil || fields == nil {
		return nil, err
	}
	call := &genai.FunctionCall{}
	if call.ID, err = fields["id"].text(name + ".id"); err != nil {
		return nil, err
	}
	if call.Name, err = fields["name"].text(name + ".name"); err != nil {
		return nil, err
	}
	call.Args, err = fields["args"].mapping(name + ".args")
	return call, err
}

func responseIn(name string, v value) (*genai.FunctionResponse, error) {
	fields, err := v.object(name)
	if err != nil || fields == nil {
		return nil, err
	}
	response := &genai.FunctionResponse{}
	if response.ID, err = fields["id"].text(name + ".id"); err != nil {
		return nil, err
	}
	if response.Name, err = fields["name"].text(name + ".name"); err != nil {
		return nil, err
	}
	if response.Response, err = fields["response"].mapping(name + ".response"); err != nil {
		return nil, err
	}
	list, err := fields["parts"].list(name + ".parts")
	if err != nil {
		return nil, err
	}
	for i, entry := range list {
		where := element(name+".parts", i)
		inside, err := entry.object(where)
		if err != nil {
			return nil, err
		}
		blob, err := blobIn(where+".inlineData", inside["inlinedata"])
		if err != nil {
			return nil, err
		}
		file, err := fileIn(where+".fileData", inside["filedata"])
		if err != nil {
			return nil, err
		}
		part := &genai.FunctionResponsePart{}
		if blob != nil {
			part.InlineData = &genai.FunctionResponseBlob{Data: blob.Data, MIMEType: blob.MIMEType, DisplayName: blob.DisplayName}
		}
		if file != nil {
			part.FileData = &genai.FunctionResponseFileData{FileURI: file.FileURI, MIMEType: file.MIMEType, DisplayName: file.DisplayName}
		}
		response.Parts = append(response.Parts, part)
	}
	return response, nil
}

// nothing reports whether a part has no content for a model.
func nothing(p *genai.Part) bool {
	return p == nil || p.Text == "" && len(p.ThoughtSignature) == 0 && p.InlineData == nil && p.FileData == nil &&
		p.FunctionCall == nil && p.FunctionResponse == nil && p.ExecutableCode == nil && p.CodeExecutionResult == nil &&
		p.ToolCall == nil && p.ToolResponse == nil
}
