package tokens

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// OfPart returns the approximate number of tokens of p, 0 for nil or an empty
// part.
//
// Text counts whether it is a thought or not. A function call or response is
// its name and the JSON of its arguments or response; its id is not sent.
// Code, its language, its output and its outcome are text. Thought signatures
// and part metadata are not prompt text and count nothing.
//
// Inline data counts by its MIME type, never by its base64: 258 for an image,
// 258 a page for a PDF, 32 and 263 a second for audio and video, with pages and
// seconds guessed from the size in bytes, and the text itself for text, JSON
// and XML. File data counts its URI and MIME type, and 258 for media, whose
// size is not known here. If the part asks for a number of media tokens
// (MediaResolution.NumTokens), that number counts instead.
func OfPart(p *genai.Part) int {
	if p == nil {
		return 0
	}
	var c counter
	some := false
	text := func(s string) {
		if s != "" {
			c.write(s)
			// To the model, fields are separate texts: no word runs on into the next.
			c.state = 0
			some = true
		}
	}
	object := func(name string, m map[string]any) {
		text(name)
		c.writeObject(m)
		c.state = 0
		some = true
	}
	media := 0

	text(p.Text)
	if call := p.FunctionCall; call != nil {
		object(call.Name, call.Args)
	}
	if resp := p.FunctionResponse; resp != nil {
		object(resp.Name, resp.Response)
		for _, part := range resp.Parts {
			if part == nil {
				continue
			}
			if d := part.InlineData; d != nil {
				media += mediaTokens(d.MIMEType, d.Data)
			}
			if f := part.FileData; f != nil {
				text(f.FileURI)
				text(f.MIMEType)
				media += fileTokens(f.MIMEType)
			}
		}
	}
	// Calls of tools that run at the provider are part of the next prompt too.
	if call := p.ToolCall; call != nil {
		object(string(call.ToolType), call.Args)
	}
	if resp := p.ToolResponse; resp != nil {
		object(string(resp.ToolType), resp.Response)
	}
	if code := p.ExecutableCode; code != nil {
		text(string(code.Language))
		text(code.Code)
	}
	if result := p.CodeExecutionResult; result != nil {
		text(string(result.Outcome))
		text(result.Output)
	}
	if d := p.InlineData; d != nil {
		media += mediaTokens(d.MIMEType, d.Data)
	}
	if f := p.FileData; f != nil {
		text(f.FileURI)
		text(f.MIMEType)
		media += fileTokens(f.MIMEType)
	}
	if media > 0 && p.MediaResolution != nil && p.MediaResolution.NumTokens != nil {
		media = int(max(0, *p.MediaResolution.NumTokens))
	}
	return c.tokens(some) + media
}

// OfContent returns the sum of [OfPart] over c's parts, 0 for nil. The role
// and the few tokens that frame a message are not counted.
func OfContent(c *genai.Content) int {
	if c == nil {
		return 0
	}
	n := 0
	for _, p := range c.Parts {
		n += OfPart(p)
	}
	return n
}

// OfContents returns the sum of [OfContent].
func OfContents(cs []*genai.Content) int {
	n := 0
	for _, c := range cs {
		n += OfContent(c)
	}
	return n
}

// OfEvent returns the approximate number of tokens that ADK sends for ev: its
// content or, if that has no parts, its input transcription or else its output
// transcription, as ADK chooses. It is 0 for nil and for an event with none of
// them (a state change, a compaction record). Whether ADK sends the event to a
// given agent at all (branch, partial, confirmation requests) is up to the
// caller to find out.
func OfEvent(ev *session.Event) int {
	if ev == nil {
		return 0
	}
	if ev.Content != nil && len(ev.Content.Parts) > 0 {
		return OfContent(ev.Content)
	}
	if t := ev.InputTranscription; t != nil && t.Text != "" {
		return Estimate(t.Text)
	}
	if t := ev.OutputTranscription; t != nil {
		return Estimate(t.Text)
	}
	return 0
}
