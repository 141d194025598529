package budget

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// maxLargest is how many parts an OverflowError names.
const maxLargest = 5

// largestParts returns the largest parts of a request, largest first.
func largestParts(req *model.LLMRequest) []Large {
	var all []Large
	if req.Config != nil {
		if instruction := req.Config.SystemInstruction; instruction != nil {
			all = append(all, Large{What: systemInstruction, Content: -1, Tokens: tokens.OfContent(instruction)})
		}
		all = append(all, largeTools(req.Config.Tools)...)
	}
	for i, c := range req.Contents {
		if c == nil {
			continue
		}
		for _, part := range c.Parts {
			if part != nil {
				all = append(all, largePart(i, c.Role, part))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Large) int { return b.Tokens - a.Tokens })
	return slices.Clip(all[:min(maxLargest, len(all))])
}

// largeTools returns the declarations, or all of them as one part if none of several makes up half of it: where they
// fill the window together, each alone is smaller than a message that is not to blame.
func largeTools(all []*genai.Tool) (parts []Large) {
	sum, largest := 0, 0
	for _, t := range all {
		if t == nil {
			continue
		}
		for _, d := range t.FunctionDeclarations {
			if d != nil {
				size, _ := promptsize.OfTools([]*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{d}}})
				parts = append(parts, Large{What: toolDeclaration, Content: -1, Name: d.Name, Tokens: size})
				sum, largest = sum+size, max(largest, size)
			}
		}
	}
	if len(parts) > 1 && largest <= sum/2 {
		return []Large{{What: toolDeclarations, Content: -1, Tokens: sum}}
	}
	return parts
}

func largePart(content int, role string, part *genai.Part) Large {
	l := Large{Content: content, Tokens: tokens.OfContent(&genai.Content{Role: role, Parts: []*genai.Part{part}})}
	switch {
	case part.FunctionResponse != nil:
		l.What, l.Name = toolResult, part.FunctionResponse.Name
	case part.FunctionCall != nil:
		l.What, l.Name = toolCall, part.FunctionCall.Name
	case role == genai.RoleModel:
		l.What = modelText
	default:
		l.What = userMessage
	}
	return l
}

// overflowError describes a request that does not fit. r is nil if the request was not sent.
func (c *call) overflowError(r *refused, largest []Large) *OverflowError {
	w := c.m.budgetOf(c.who.model, c.req)
	err := &OverflowError{
		Model: c.who.model, Tokens: c.size.UsedTokens(), Window: w.Total, Reply: w.MaxOutputTokens,
		Largest: slices.Clone(largest), Tried: slices.Clone(c.tried),
	}
	// The largest parts are estimates, so the size must be of their kind, or they of its kind.
	err.Tokens = max(err.Tokens, c.size.estimate())
	if c.m.windows.Of(c.who.model).Assumed {
		err.Window, err.Reply = 0, 0
	}
	if r != nil {
		err.Sent, err.Err = true, r.err
		if r.numbers.prompt > 0 {
			for i := range err.Largest {
				err.Largest[i].Tokens = int(int64(err.Largest[i].Tokens) * int64(r.numbers.prompt) / int64(max(1, c.size.estimate())))
			}
			err.Tokens = r.numbers.prompt
		}
	}
	return err
}
