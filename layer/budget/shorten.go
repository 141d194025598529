package budget

import (
	"slices"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// The sizes to which the parts of a request are shortened: half of the effective window, a quarter and so
// on, down to a share of it, or to so few tokens that hardly anything is left. Each is a fixed share, so
// that a part is shown alike in one request after the other, and by every process.
const (
	least      = 16 // a sixteenth of the effective window
	leastOfAll = 0  // minShortened tokens

	minShortened = 48
)

// shorten cuts what is largest in a request to its beginning and end, as far as it must for the request to
// fit, but not to less than a share of the effective window. The user's new message stays whole, and with a
// share so do summaries, which are no longer than they must be. It reports whether the request fits.
func shorten(c *call, fits func() bool, share int) bool {
	before, whole := c.size, c.req.Contents
	newest := newMessage(c)
	limit := minShortened
	if share > 0 {
		limit = max(limit, c.size.EffectiveWindow()/share)
	}
	c.guard("shortening", func() error {
		for most := c.size.EffectiveWindow() / 2; most >= limit && !fits(); most /= 2 {
			shortened := slices.Clone(whole)
			for i, content := range whole {
				if i == newest || content == nil || share > 0 && promptsize.IsSummary(content) {
					continue
				}
				if promptsize.OfContent(content) > most {
					shortened[i] = toolresult.Shorten(content, most, refTo(c))
				}
			}
			c.req.Contents = shortened
			c.size = c.m.measure(c.who, c.req)
		}
		return nil
	})
	if c.size.UsedTokens() < before.UsedTokens() {
		c.did |= didDrop
		c.note(Shortened, "shortened", before)
	}
	return fits()
}

// newMessage returns the index of the content with the message that the run answers, -1 if there is none. A
// call outside of a run answers its last content of the user.
func newMessage(c *call) int {
	isNew := func(part *genai.Part) bool { return part.FunctionResponse == nil }
	if c.ic != nil {
		message := c.ic.UserContent()
		isNew = func(part *genai.Part) bool { return message != nil && hasPart(message, part) }
	}
	for i, content := range slices.Backward(c.req.Contents) {
		if content != nil && content.Role == genai.RoleUser && slices.ContainsFunc(content.Parts, func(part *genai.Part) bool { return part != nil && isNew(part) }) {
			return i
		}
	}
	return -1
}

// hasPart reports whether a message has a part that says the same.
func hasPart(message *genai.Content, part *genai.Part) bool {
	return slices.ContainsFunc(message.Parts, func(own *genai.Part) bool {
		switch {
		case own == nil:
			return false
		case own.Text != "" || part.Text != "":
			return own.Text == part.Text
		case own.InlineData != nil && part.InlineData != nil:
			return slices.Equal(own.InlineData.Data, part.InlineData.Data)
		}
		return own.FileData != nil && part.FileData != nil && own.FileData.FileURI == part.FileData.FileURI
	})
}

// refTo returns a function that returns the reference by which the model can read a text whole, "" if it
// cannot. It declares read_result, which a request of an agent without tools does not have otherwise.
func refTo(c *call) func(tool string, whole store.Result) string {
	return func(tool string, whole store.Result) string {
		if !c.readable || c.put == nil || c.put(tool, whole) != nil {
			return ""
		}
		adk.AddTool(c.req, c.m.cfg.ReadResult)
		return whole.Ref
	}
}
