package main

import (
	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// shortestSummary is the minimum size, in tokens, of a summary of everything that may be
// summarized: its frame and a sentence or two.
const shortestSummary = 100

// leftForAnswer is which part of a window any request leaves for the answer: at least a twentieth. The hard limit
// of package compaction leaves more.
const leftForAnswer = 20

// least returns the minimum size of a request in tokens: the instructions, the user's messages of
// this turn, content that the model has not read yet, and the shortest summary of the rest. A
// request over the window was avoidable if its least size fits the window.
func (w *watch) least(turn int, req *model.LLMRequest) int {
	return w.fixed(turn, req) + tokens.OfContents(newest(req.Contents))
}

// fixed is the part of [watch.least] that is not the content that the model has not read yet.
func (w *watch) fixed(turn int, req *model.LLMRequest) int {
	size := shortestSummary
	if req.Config != nil {
		size += tokens.OfContent(req.Config.SystemInstruction)
	}
	if len(newest(req.Contents)) > 1 { // otherwise it is the user's message
		size += tokens.OfContent(w.planted.conversation.Turns[turn].User)
	}
	return size
}

// newest returns the last content, preceded by the content with the calls that it answers, if any.
func newest(contents []*genai.Content) []*genai.Content {
	last := len(contents) - 1
	if last > 0 && answers(contents[last]) {
		return contents[last-1:]
	}
	return contents[max(0, last):]
}
