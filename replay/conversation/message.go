package conversation

import (
	"time"

	"google.golang.org/genai"
)

// message is what all forms of recordings have in common, before it is put into turns.
type message struct {
	place
	from speaker
	// parts is what was said. Only an agent's message calls functions in it; responses are in results.
	parts []*genai.Part
	// results answer earlier calls. They come before parts.
	results []result
	// summary marks the message by which the recorded application told the model what it had cut.
	summary bool
	// prompt and output are tokens, 0 if unknown.
	prompt, output int
	time           time.Time
}

// place is where a message stands, for errors.
type place struct {
	index        int // among all messages of the recording
	line, column int // 0 if unknown
}

type speaker int

const (
	user speaker = iota
	agent
	system
	tool // says nothing itself
)

// result is what a tool gave back. It belongs to the call of its ID; without one, to a call of its name;
// without that, to any that still waits.
type result struct {
	place
	*genai.FunctionResponse
}

// recording is a conversation as it was read.
type recording struct {
	id, model   string
	instruction []string
	messages    []message
	compactions []compactedAt
	questions   []Question
	notes       notes
	// compacted says that a record was passed over: from there on prompts did not hold all that was said.
	compacted bool
}

// compactedAt is a compaction before the message of that index.
type compactedAt struct {
	index int
	Compaction
}
