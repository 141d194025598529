package main

import (
	"context"
	"fmt"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

// Sizes of the hard cases.
const (
	longTurn      = 150   // rounds of tools
	pendingTurns  = 40    // turns for which a confirmation is pending
	branchTurns   = 30    // of each of two branches
	expertCalls   = 7     // of an agent that is a tool
	expertSteps   = 30    // in each of them
	adoptedTurns  = 5_000 // turns stored before
	oversizedLine = 700   // lines of a result of 21,000 tokens
)

// hardCase begins the name of each.
const hardCase = "hard case: "

// branchNames are the agents that work side by side.
var branchNames = []string{"left", "right"}

// hardCases are invented, and each is one in which ways of keeping a session short are known to go wrong.
func hardCases() []set {
	hard := func(name string, window int, c *conversation.Conversation, how course) set {
		return set{name: hardCase + name, windows: []int{window}, plays: []playing{how.of(c)}, hard: true}
	}
	talk := invented
	return []set{
		hard(fmt.Sprintf("%d rounds of tools in one turn", longTurn), 32_000, reading("long", 1, longTurn, func(n int) int { return 4 + n*7%45 }), course{}),
		{name: hardCase + fmt.Sprintf("a confirmation pending for %d turns", pendingTurns), windows: []int{8_000}, plays: []playing{pending}, hard: true},
		{name: hardCase + "two parallel branches", windows: []int{8_000}, plays: []playing{branches}, hard: true},
		{name: hardCase + fmt.Sprintf("an agent as a tool, called %d times", expertCalls), windows: []int{32_000}, plays: []playing{experts}, hard: true, alone: true},
		hard("a writer that fails", 8_000, talk(), course{instead: fails}),
		hard("a writer that hangs", 8_000, talk(), course{instead: hangs}),
		hard(`a writer that says "."`, 8_000, talk(), course{instead: dot}),
		hard("a restart after every fifth turn", 8_000, talk(), course{process: func(turn int) int { return turn / 5 }}),
		hard("two processes that take turns", 8_000, talk(), course{process: func(turn int) int { return turn % 2 }}),
		hard("a result of 21,000 tokens", 8_000, oversized(), course{}),
		hard(count(adoptedTurns)+" turns adopted", 32_000, desk("new", 10), course{adopted: chat(adoptedTurns)}),
	}
}

// oversized is a conversation with one result that is larger than the window.
func oversized() *conversation.Conversation {
	c := desk("oversized", 12)
	c.Turns[5].Steps[0].Responses[0].Response["log"] = prose(0, oversizedLine)
	return c
}

// chat is a conversation of that many short turns without tools.
func chat(turns int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "chat"}
	for i := range turns {
		c.Turns = append(c.Turns, conversation.Turn{
			User:  genai.NewContentFromText(fmt.Sprintf("Note %d. %s", i, prose(i, 2)), genai.RoleUser),
			Steps: []conversation.Step{{Answer: genai.NewContentFromText(prose(i+2, 2), genai.RoleModel)}},
		})
	}
	return c
}

// of plays c in this course.
func (o course) of(c *conversation.Conversation) playing {
	return func(ctx context.Context, w way, window int) (figures, error) {
		return play(ctx, plant(c), w, window, o)
	}
}
