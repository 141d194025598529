package tokens

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// OfPart returns the approximate number of tokens of p. It is 0 for nil and for an empty part.
//
// Text counts, including thoughts. A function call or response counts its name and the JSON of its
// arguments or response, but not its ID, which is not sent. Code, its language, its output and its
// outcome count as text. Thought signatures and part metadata are not prompt text and count 0.
//
// Inline data counts by its MIME type, never by its base64: 258 for an image, 258 per page of a
// PDF, 32 per second of audio and 263 per second of video. Pages and seconds are estimated from the
// size in bytes. Text, JSON and XML count as text. File data counts its URI and MIME type, and 258
// for media, whose size is unknown. If the part asks for a number of media tokens
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
			// The model receives fields as separate texts, so no word continues from one field to
			// the next.
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

// OfContent returns the sum of [OfPart] over c's parts, 0 for nil. It does not count the role and
// the few tokens that frame a message.
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

// OfEvent returns the approximate number of tokens that ADK sends for ev. It counts the content or,
// if that has no parts, the input transcription, or else the output transcription: ADK chooses in
// this order. It is 0 for nil and for an event with none of these (a state change, a compaction
// record). OfEvent does not decide whether ADK sends the event to a given agent at all (branch,
// partial, confirmation requests).
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
