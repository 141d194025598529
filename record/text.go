package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// Text returns the summary's prose: the text of all parts that are not thoughts, joined by
// newlines. If there is none, the error wraps [ErrMalformed].
func (m *Metadata) Text() (string, error) {
	var content struct {
		Parts []*struct {
			Text    string `json:"text"`
			Thought bool   `json:"thought"`
		} `json:"parts"`
	}
	if err := json.Unmarshal([]byte(m.CompactedContentJSON), &content); err != nil {
		return "", fmt.Errorf("%w: %s: %v", ErrMalformed, fContent, err)
	}
	var texts []string
	for _, part := range content.Parts {
		if part != nil && !part.Thought && strings.TrimSpace(part.Text) != "" {
			texts = append(texts, part.Text)
		}
	}
	if len(texts) == 0 {
		return "", fmt.Errorf("%w: %s holds no text", ErrMalformed, fContent)
	}
	return strings.Join(texts, "\n"), nil
}

// Whole returns the prose as it was before it was cut for a prompt that did not fit: Uncut, or Text if it is "". The
// error is that of Text.
func (m *Metadata) Whole() (string, error) {
	if m.Uncut != "" {
		return m.Uncut, nil
	}
	return m.Text()
}

// SetText makes prose the record's content, with role "model".
func (m *Metadata) SetText(prose string) error {
	data, err := json.Marshal(genai.NewContentFromText(prose, genai.RoleModel))
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	m.CompactedContentJSON = string(data)
	return nil
}
