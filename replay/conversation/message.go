package conversation

import (
	"time"

	"google.golang.org/genai"
)

// message is a message of any form, before the builder arranges it into turns.
type message struct {
	place
	from speaker
	// parts are text, media and calls. Only an agent's message has calls. Responses are in results.
	parts []*genai.Part
	// results answer earlier calls. They come before the parts.
	results []result
	// summary marks the recorded application's own summary of its history.
	summary bool
	// prompt and output are the provider's counts in tokens, 0 if unknown.
	prompt, output int
	time           time.Time
}

// place is the position of a message, for errors.
type place struct {
	index        int // among all messages of the recording
	line, column int // 0 if unknown
}

type speaker int

const (
	user speaker = iota
	agent
	system
	tool // has results only
)

// result is the response of a tool. It answers the call with its ID. Without an ID it answers an
// open call of its name, and without a name any open call.
type result struct {
	place
	*genai.FunctionResponse
}

// recording is a conversation as it was read, before the builder normalizes it.
type recording struct {
	id, model   string
	instruction []string
	tools       []*genai.FunctionDeclaration
	messages    []message
	compactions []compactedAt
	questions   []Question
	notes       notes
	// compacted is true after a compaction record: later prompts did not have the whole history.
	compacted bool
}

// compactedAt is a compaction before the message with this index.
type compactedAt struct {
	index int
	Compaction
}
