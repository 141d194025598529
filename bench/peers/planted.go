package main

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/deepcopy"
)

// planted is a conversation with a fact in every message of the user and in every result of a tool.
type planted struct {
	conversation *conversation.Conversation
	// users are the facts of the user's messages, results those of tools, in order.
	users, results []string
	// said and answered are, for each model call, how many of these came before it.
	said, answered []int
}

// plant returns a copy of c with facts. They stand first in what was said, where a writer that cuts long
// texts still sees them.
func plant(c *conversation.Conversation) *planted {
	p := &planted{conversation: deepcopy.Of(c)}
	for i := range p.conversation.Turns {
		turn := &p.conversation.Turns[i]
		p.users = append(p.users, p.next())
		markMessage(turn.User, p.users[i])
		for _, step := range turn.Steps {
			p.call()
			for _, resp := range step.Responses {
				fact := p.next()
				p.results = append(p.results, fact)
				markResult(resp, fact)
			}
		}
		if len(turn.Steps) == 0 {
			p.call()
		}
	}
	return p
}

func (p *planted) next() string { return compactiontest.Fact(len(p.users) + len(p.results)) }

func (p *planted) call() {
	p.said, p.answered = append(p.said, len(p.users)), append(p.answered, len(p.results))
}

func markMessage(c *genai.Content, fact string) {
	for _, part := range c.Parts {
		if part.Text != "" {
			part.Text = fact + ": " + part.Text
			return
		}
	}
	c.Parts = slices.Insert(c.Parts, 0, &genai.Part{Text: fact})
}

// markResult puts the fact in front of the longest text, which is what was returned. Where there is
// none, it stands beside.
func markResult(resp *genai.FunctionResponse, fact string) {
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
		resp.Response["fact"] = fact
		return
	}
	resp.Response[longest] = strings.Join([]string{fact, resp.Response[longest].(string)}, ": ")
}
