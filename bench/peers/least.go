package main

import (
	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// shortestSummary is the minimum size, in tokens, of a summary of everything that may be
// summarized: its frame and a sentence or two.
const shortestSummary = 100

// least returns the minimum size of a request in tokens: the instructions, the user's messages of
// this turn, content that the model has not read yet, and the shortest summary of the rest. A
// request over the window was avoidable if its least size fits the window.
func (w *watch) least(turn int, req *model.LLMRequest) int {
	size := shortestSummary
	if req.Config != nil {
		size += tokens.OfContent(req.Config.SystemInstruction)
	}
	unread := newest(req.Contents)
	if len(unread) > 1 { // otherwise it is the user's message
		size += tokens.OfContent(w.planted.conversation.Turns[turn].User)
	}
	return size + tokens.OfContents(unread)
}

// newest returns the last content, preceded by the content with the calls that it answers, if any.
func newest(contents []*genai.Content) []*genai.Content {
	last := len(contents) - 1
	if last > 0 && answers(contents[last]) {
		return contents[last-1:]
	}
	return contents[max(0, last):]
}
