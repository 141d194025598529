package replay

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// shownRunes is how many characters of a text describe a message.
const shownRunes = 40

// shortestProse is the text of a summary, in estimated tokens, that the compaction service never
// cuts further.
const shortestProse = 32

// foreseeable is how exactly the library can know the size of a prompt with a new result in it: to one part
// in so many. Where what must stay leaves less than that, it may take the prompt for one that cannot fit.
const foreseeable = 50

// shortestSummary is the smallest size of a summary in a prompt, in estimated tokens.
func shortestSummary() int { return promptsize.Frame(record.KindSummary, false) + shortestProse }

// overlong explains why a prompt of the reported size is over the limit. Its declarations have so many
// estimated tokens. It uses the numbers that the library has: the counts that the model reported, and the
// library's own estimates.
func (r *run) overlong(call, turn, reported, declared int, req *model.LLMRequest) Overlong {
	o := Overlong{Call: call, Turn: turn + 1, Tokens: reported}
	raw := mustStay(req, r.c.Turns[turn].User)
	kept, largest := declared+shortened(r.c, call, turn, req), -1
	for _, c := range raw {
		size := tokens.OfContent(c.Content)
		kept += size
		if size > largest {
			largest, o.Event = size, c.name()
		}
	}
	o.EventTokens = r.scale.of(largest) - r.scale.base()
	o.KeptTokens = r.scale.of(kept)
	o.Alone = o.EventTokens > r.report.Limit
	least := r.scale.of(kept + promptsize.EventOverhead*len(raw) + r.leastSummarized(call, turn, kept))
	o.Unavoidable = least > r.report.Limit-r.report.Limit/foreseeable
	if !o.Unavoidable {
		o.Expected = r.expected()
		o.Unforeseen = o.Expected > 0 && o.Expected <= r.report.Limit
	}
	return o
}

// shortened is how many tokens the newest results have beyond what is shown of them. The library shows results that
// fit no window as their ends, as a last resort: what must stay was larger.
func shortened(c *conversation.Conversation, call, turn int, req *model.LLMRequest) int {
	step, last := call-callOf(c, turn, 0)-1, len(req.Contents)-1
	if step < 0 || step >= len(c.Turns[turn].Steps) || last < 0 || !answers(req.Contents[last]) {
		return 0
	}
	recorded := &genai.Content{}
	for _, response := range c.Turns[turn].Steps[step].Responses {
		recorded.Parts = append(recorded.Parts, &genai.Part{FunctionResponse: response})
	}
	return max(0, tokens.OfContent(recorded)-tokens.OfContent(req.Contents[last]))
}

// leastSummarized is the smallest size of the rest of a prompt, where kept tokens must stay raw.
// The rest is at best two shortest summaries: one of the earlier turns, and one of the older tool
// rounds of the running turn. It is never larger than the raw rest. For example, at the third call
// of the second turn
//
//	user "one", agent "two", user "three", call and result a, call and result b
//
// the first two events need one summary, and round a needs another.
func (r *run) leastSummarized(call, turn, kept int) int {
	least := 0
	if turn > 0 {
		least += shortestSummary()
	}
	if call-callOf(r.c, turn, 0) > 1 {
		least += shortestSummary()
	}
	if call < len(r.whole.calls) {
		least = min(least, max(0, r.whole.calls[call].size-kept))
	}
	return least
}

// expected is the size that the library expects of the prompt that is being sent, 0 if it has none.
func (r *run) expected() int {
	if r.svc == nil {
		return 0
	}
	status, err := r.svc.Status(context.Background(), r.ref) // Request has no context
	if err != nil {
		return 0
	}
	return status.PromptTokens
}

// part is a content of a prompt, or its instruction.
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

// mustStay returns the parts of a request that no compaction may hide: the instruction, the newest
// message of the user, and the newest event of the agent, a result together with its calls. For
// example, of
//
//	user "go", agent calls a tool, its result, user "stop"
//
// these are the instruction, "stop", the result and the call.
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

// answers reports whether a content has function responses.
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
