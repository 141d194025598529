package conversation

import (
	"time"

	"google.golang.org/genai"
)

// Conversation is a recorded conversation of a user with one agent, in the form in which it can be
// played again: turn by turn, with the model's answers and the tools' results.
type Conversation struct {
	// ID is what the recording calls it; "FILE:LINE" where it has no name.
	ID string
	// File and Line say where it was read, for messages. Line counts from 1.
	File string
	Line int
	// Model is the name of the model that answered, as recorded; "" if unknown.
	Model string
	// Instruction is the text of the system messages, joined by blank lines.
	Instruction string
	// Turns in order. A turn begins with the user.
	Turns []Turn
	// Compactions that the recorded application made, in order.
	Compactions []Compaction
	// Questions about the conversation, with the answers that count as right.
	Questions []Question
	// Notes say what was changed, left out or made up to get the normal form: "what: how often", one for
	// each kind of it.
	Notes []string
}

// Turn is what the user said and how the agent answered.
type Turn struct {
	// User is the user's message: role "user", at least one part. User messages with no answer between
	// them are one message with a part for each, unless the recording holds no answer at all: then each
	// is a turn of its own.
	User *genai.Content
	// Steps are the model's answers. All but the last call tools; a last step that does so too was
	// interrupted: the user spoke before the model read the results. A turn without steps was not
	// answered in the recording.
	Steps []Step
}

// Step is one answer of the model, and what came of the tools that it called.
type Step struct {
	// Message is the index, from 0, of the recording's message (or event) that the answer begins with.
	Message int
	// Answer is of role "model": text, thoughts, function calls. Every call has an ID, unique in the
	// conversation.
	Answer *genai.Content
	// Responses are one for each function call of Answer, in their order, with the call's ID and name.
	Responses []*genai.FunctionResponse
	// PromptTokens and OutputTokens are the provider's own counts for the call that gave Answer; 0
	// where they were not recorded. PromptTokens is the whole prompt: of the recorded application, with
	// instructions and tool declarations that the recording may not hold.
	PromptTokens, OutputTokens int
	// Time is when the answer was recorded; zero if unknown.
	Time time.Time
}

// Compaction is one that the recorded application made of its own conversation.
type Compaction struct {
	// Turn and Step say before which model call it happened: Turns[Turn].Steps[Step] is the first
	// answer after it.
	Turn, Step int
	// Trigger is "auto", "manual" or what else was recorded.
	Trigger string
	// PromptTokens is the size of the prompt before it, as recorded; 0 if unknown.
	PromptTokens int
	// Summary is the text that took the place of what was before.
	Summary string
}

// Question is a question about what was said.
type Question struct {
	ID, Text string
	// Answers are accepted; one of them is enough. A question without any cannot be scored.
	Answers []string
	// Unanswerable reports whether the recording says that the conversation does not hold the answer.
	Unanswerable bool
	// Literal reports whether the recording says that an answer stands in the conversation word for word.
	Literal bool
}

// Messages returns the number of messages: one for each user message, each answer and each response.
func (c *Conversation) Messages() int {
	n := 0
	for _, t := range c.Turns {
		n++
		for _, s := range t.Steps {
			n += 1 + len(s.Responses)
		}
	}
	return n
}
