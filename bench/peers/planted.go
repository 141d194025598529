package main

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// planted is a conversation whose user messages and tool results are numbered. Each has its number
// at its start, in its middle and at its end, so that every cut removes at least one.
type planted struct {
	conversation *conversation.Conversation
	// users has the numbers of the user's messages, and results those of tool results, in order.
	users, results []int
	// refs has the reference of each result, by its number, and whole the result itself.
	refs  map[int]string
	whole map[string]store.Result
	// sizes has the tokens of each result, by its number.
	sizes map[int]int
	// others are the numbers of results that requests of these agents must not show, because they are of another branch.
	others []int
	// firstUser and firstResult are added to the numbers, so that conversations of one app share no number, or share
	// those of the user's messages alone.
	firstUser, firstResult int
	// said and answered hold, for each model call, how many of these came before it.
	said, answered []int
}

// plant returns a numbered copy of c.
func plant(c *conversation.Conversation) *planted { return plantFrom(c, 0, 0) }

// plantFrom is plant with other first numbers.
func plantFrom(c *conversation.Conversation, firstUser, firstResult int) *planted {
	p := &planted{
		conversation: adk.DeepCopy(c), refs: map[int]string{}, whole: map[string]store.Result{}, sizes: map[int]int{},
		firstUser: firstUser, firstResult: firstResult,
	}
	for i := range p.conversation.Turns {
		turn := &p.conversation.Turns[i]
		p.users = append(p.users, p.firstUser+p.next())
		markMessage(turn.User, p.users[i])
		for _, step := range turn.Steps {
			p.call()
			for _, resp := range step.Responses {
				p.result(resp)
			}
		}
		if len(turn.Steps) == 0 {
			p.call()
		}
	}
	return p
}

// result numbers the next result.
func (p *planted) result(resp *genai.FunctionResponse) {
	number := p.firstResult + p.next()
	p.results = append(p.results, number)
	markResult(resp, number)
	p.sizes[number] = tokens.OfContent(&genai.Content{Parts: []*genai.Part{{FunctionResponse: resp}}})
	whole := store.ResultOf(resp.Response)
	p.refs[number], p.whole[whole.Ref] = whole.Ref, whole
}

func (p *planted) next() int { return len(p.users) + len(p.results) }

func (p *planted) call() {
	p.said, p.answered = append(p.said, len(p.users)), append(p.answered, len(p.results))
}

// markMessage marks the longest text of a message. If the message has no text, it adds the mark as
// a text.
func markMessage(c *genai.Content, number int) {
	var longest *genai.Part
	for _, part := range c.Parts {
		if part.Text != "" && (longest == nil || len(part.Text) > len(longest.Text)) {
			longest = part
		}
	}
	if longest == nil {
		c.Parts = slices.Insert(c.Parts, 0, &genai.Part{Text: mark("", number)})
		return
	}
	longest.Text = mark(longest.Text, number)
}

// markResult marks the longest text of a result. If the result has no text, it adds the mark as
// another value.
func markResult(resp *genai.FunctionResponse, number int) {
	longest := ""
	for _, key := range slices.Sorted(maps.Keys(resp.Response)) {
		if text, ok := resp.Response[key].(string); ok && (longest == "" || len(text) > len(resp.Response[longest].(string))) {
			longest = key
		}
	}
	if longest == "" {
		if resp.Response == nil {
			resp.Response = map[string]any{}
		}
		resp.Response["mark"] = mark("", number)
		return
	}
	resp.Response[longest] = mark(resp.Response[longest].(string), number)
}
