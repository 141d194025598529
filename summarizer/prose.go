package summarizer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/genai"
)

// Prose returns the usable text of a summary: its text parts that are not thoughts. They are joined
// without a separator, because a model may split a sentence over several parts. The text is valid
// UTF-8 and has no control characters except line breaks and tabs.
//
// Prose drops every part that carries a function call or response, code, or data, and the text of
// that part with it: otherwise a model would later see a call without a response. If only blanks
// are left, or c is nil, the error wraps [ErrUnusable].
func Prose(c *genai.Content) (string, error) {
	var b strings.Builder
	for _, p := range proseParts(c) {
		b.WriteString(p.Text)
	}
	if text := clean(b.String()); !blank(text) {
		return text, nil
	}
	return "", fmt.Errorf("%w: %s", ErrUnusable, whyNoProse(c))
}

// proseParts returns copies of the parts that [Prose] reads, each with only its text and the text's
// signature and metadata.
func proseParts(c *genai.Content) []*genai.Part {
	if c == nil {
		return nil
	}
	var out []*genai.Part
	for _, p := range c.Parts {
		if p == nil || p.Thought || p.Text == "" || carriesPayload(p) {
			continue
		}
		out = append(out, &genai.Part{
			Text:             p.Text,
			ThoughtSignature: slices.Clone(p.ThoughtSignature),
			PartMetadata:     maps.Clone(p.PartMetadata),
		})
	}
	return out
}

func carriesPayload(p *genai.Part) bool {
	return callsTool(p) || p.FunctionResponse != nil || p.ToolResponse != nil ||
		p.InlineData != nil || p.FileData != nil ||
		p.ExecutableCode != nil || p.CodeExecutionResult != nil
}

func callsTool(p *genai.Part) bool {
	return p != nil && (p.FunctionCall != nil || p.ToolCall != nil)
}

func whyNoProse(c *genai.Content) string {
	if c == nil || len(c.Parts) == 0 {
		return "the answer has no content"
	}
	thoughts := 0
	for _, p := range c.Parts {
		if p != nil && p.Thought {
			thoughts++
		}
	}
	if thoughts == len(c.Parts) {
		return "the answer holds thoughts only"
	}
	return "the answer holds no text but blanks"
}

// clean makes text fit for storage and display. Every kind of line break becomes \n, and an invalid
// byte U+FFFD. It drops all other characters that [hostile] reports, such as NUL, which PostgreSQL
// rejects in JSON: a summary with a NUL could never be stored.
func clean(text string) string {
	if strings.IndexFunc(text, unclean) < 0 {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case isLineBreak(r):
			return '\n'
		case r == utf8.RuneError, !unclean(r):
			return r
		default:
			return -1
		}
	}, text)
}

func unclean(r rune) bool { return r != '\n' && r != '\t' && hostile(r) }

// blank reports whether s is invisible to a reader: it has only spaces, control characters and
// characters of zero width.
func blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	}) < 0
}
