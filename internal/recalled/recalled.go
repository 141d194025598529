// Package recalled knows the tools by which a model searches earlier messages. What they are asked and what they
// answer repeats what the session has already: an index, a summary and a list of exact values that took it in
// would have the same words twice, and would find the question in place of its source.
package recalled

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Names of the tools.
const (
	Search = "recall"
	Turn   = "recall_turn"
)

// IsTool reports whether a tool of that name repeats what the session has.
func IsTool(name string) bool { return name == Search || name == Turn }

// Part reports whether a part is a call of such a tool, or its response.
func Part(p *genai.Part) bool {
	return p != nil && (p.FunctionCall != nil && IsTool(p.FunctionCall.Name) || p.FunctionResponse != nil && IsTool(p.FunctionResponse.Name))
}

// Without returns the parts of an event that are not such calls and responses. It returns the event's own slice if
// all are left, and nil if the event has no content.
func Without(ev *session.Event) []*genai.Part {
	if ev == nil || ev.Content == nil {
		return nil
	}
	for i, p := range ev.Content.Parts {
		if !Part(p) {
			continue
		}
		kept := append([]*genai.Part(nil), ev.Content.Parts[:i]...)
		for _, p := range ev.Content.Parts[i+1:] {
			if !Part(p) {
				kept = append(kept, p)
			}
		}
		return kept
	}
	return ev.Content.Parts
}
