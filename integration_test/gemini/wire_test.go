package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// wireRequest is the body of a generateContent call. It has every field that the Gemini API knows
// and this module can cause to be sent. The API rejects a body with any other field.
type wireRequest struct {
	Contents          []wireContent   `json:"contents"`
	SystemInstruction *wireContent    `json:"systemInstruction"`
	Tools             []wireTools     `json:"tools"`
	ToolConfig        json.RawMessage `json:"toolConfig"`
	GenerationConfig  map[string]any  `json:"generationConfig"`
	SafetySettings    []any           `json:"safetySettings"`
}

type wireContent struct {
	Role  string     `json:"role"`
	Parts []wirePart `json:"parts"`
}

type wirePart struct {
	Text             *string       `json:"text"`
	FunctionCall     *wireCall     `json:"functionCall"`
	FunctionResponse *wireResponse `json:"functionResponse"`
	Thought          bool          `json:"thought"`
	ThoughtSignature string        `json:"thoughtSignature"`
}

type wireCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

type wireResponse struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

type wireTools struct {
	FunctionDeclarations []struct {
		Name                 string          `json:"name"`
		Description          string          `json:"description"`
		Parameters           json.RawMessage `json:"parameters"`
		ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		Response             json.RawMessage `json:"response"`
		ResponseJSONSchema   json.RawMessage `json:"responseJsonSchema"`
	} `json:"functionDeclarations"`
}

// decodeWire decodes a body as strictly as the API.
func decodeWire(body []byte) (*wireRequest, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var req wireRequest
	if err := decoder.Decode(&req); err != nil {
		return nil, fmt.Errorf("invalid JSON payload received: %w", err)
	}
	return &req, nil
}

// isSummary reports whether a body requests a summary. The prompts of package summarizer delimit
// quoted text, and no quoted line can look like a delimiter.
func (r *wireRequest) isSummary() bool {
	return len(r.Contents) == 1 && strings.Contains(r.Contents[0].text(), "\n===== END OF THE RECORD =====\n")
}

func (c wireContent) text() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Text != nil {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

func (c wireContent) calls() []*wireCall {
	var out []*wireCall
	for _, p := range c.Parts {
		if p.FunctionCall != nil {
			out = append(out, p.FunctionCall)
		}
	}
	return out
}

func (c wireContent) responses() []*wireResponse {
	var out []*wireResponse
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			out = append(out, p.FunctionResponse)
		}
	}
	return out
}
