package replay

import (
	"fmt"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// shownRunes is how much of a text names a message.
const shownRunes = 40

// shortestSummary is what must be left for all that does not stay raw, in estimated tokens: the frame that
// a summary is shown in, and a sentence or two.
const shortestSummary = 100

// overlong names what stands in the way of a shorter prompt.
func (r *run) overlong(call, turn, size int, req *model.LLMRequest) Overlong {
	o := Overlong{Call: call, Turn: turn + 1, Tokens: size}
	kept, largest := 0, -1
	for _, c := range mustStay(req, r.c.Turns[turn].User) {
		size := tokens.OfContent(c.Content)
		kept += size
		if size > largest {
			largest, o.Event = size, c.name()
		}
	}
	o.EventTokens = r.scale.of(largest) - r.scale.base()
	o.KeptTokens = r.scale.of(kept)
	o.Alone = o.EventTokens > r.report.Limit
	o.Unavoidable = o.KeptTokens+r.scale.of(shortestSummary)-r.scale.base() > r.report.Limit
	return o
}

// part is a part of a prompt.
type part struct {
	*genai.Content
	instruction bool
}

func (p part) name() string {
	if p.instruction {
		return "the instruction"
	}
	return describe(p.Content)
}

// mustStay is what no compaction may take out of a request: the instruction, what the user said last, and the
// newest thing that the agent did, a result with its calls.
func mustStay(req *model.LLMRequest, question *genai.Content) []part {
	var kept []part
	if req.Config != nil && req.Config.SystemInstruction != nil {
		kept = append(kept, part{req.Config.SystemInstruction, true})
	}
	i := len(req.Contents) - 1
	switch {
	case i < 0:
		return kept
	case !answers(req.Contents[i]) && req.Contents[i].Role != genai.RoleModel:
		kept = append(kept, part{Content: req.Contents[i]})
		for i--; i >= 0 && !answers(req.Contents[i]) && req.Contents[i].Role != genai.RoleModel; i-- {
		}
	default:
		kept = append(kept, part{Content: question})
	}
	if i >= 0 {
		kept = append(kept, part{Content: req.Contents[i]})
	}
	if i > 0 && answers(req.Contents[i]) {
		kept = append(kept, part{Content: req.Contents[i-1]})
	}
	return kept
}

// answers reports whether a content answers calls.
func answers(c *genai.Content) bool {
	return slices.ContainsFunc(parts(c), func(p *genai.Part) bool { return p.FunctionResponse != nil })
}

// describe names a content in a few words.
func describe(c *genai.Content) string {
	calls, responses, names := 0, 0, ""
	for _, p := range parts(c) {
		switch {
		case p.FunctionCall != nil:
			calls++
			names += " " + p.FunctionCall.Name
		case p.FunctionResponse != nil:
			responses++
			names += " " + p.FunctionResponse.Name
		}
	}
	switch {
	case responses == 1:
		return "result of" + names
	case responses > 1:
		return fmt.Sprintf("%d results of%s", responses, names)
	case calls > 0:
		return "call of" + names
	}
	for _, p := range parts(c) {
		if p.Text != "" {
			return fmt.Sprintf("%s message %q", c.Role, start(p.Text))
		}
	}
	return "message without text"
}

func start(text string) string {
	runes := []rune(text[:min(len(text), 4*shownRunes)])
	if len(runes) <= shownRunes {
		return string(runes)
	}
	return string(runes[:shownRunes]) + "…"
}
