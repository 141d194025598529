package main

import (
	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// shortestSummary is what must be left for all that may be summarized, in tokens: the frame that a
// summary is shown in, and a sentence or two.
const shortestSummary = 100

// least is how long a request must be at least, in tokens: the instructions, what the user said in this
// turn, what the model reads for the first time, and the shortest summary of the rest. A request over the
// window could have been avoided if this is within it.
func (w *watch) least(turn int, req *model.LLMRequest) int {
	size := shortestSummary
	if req.Config != nil {
		size += tokens.OfContent(req.Config.SystemInstruction)
	}
	unread := newest(req.Contents)
	if len(unread) > 1 { // else it is what the user said
		size += tokens.OfContent(w.planted.conversation.Turns[turn].User)
	}
	return size + tokens.OfContents(unread)
}

// newest is the last content and, if it answers calls, the one that makes them.
func newest(contents []*genai.Content) []*genai.Content {
	last := len(contents) - 1
	if last > 0 && answers(contents[last]) {
		return contents[last-1:]
	}
	return contents[max(0, last):]
}
