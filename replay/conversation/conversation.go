package conversation

import (
	"time"

	"google.golang.org/genai"
)

// Conversation is a recorded conversation between a user and one agent, ready to be played again:
// turn by turn, with the model's answers and the tools' results.
type Conversation struct {
	// ID is the recording's name for it, or "FILE:LINE" if it has none.
	ID string
	// File and Line are where it was read, for messages. Line counts from 1. They are "" and 0 for
	// a conversation that was not read from a file.
	File string
	Line int
	// Model is the recorded name of the model that answered, "" if unknown.
	Model string
	// Instruction is the text of the system messages, joined by blank lines.
	Instruction string
	// Tools are the declarations of the tools that the model was offered, in order, each name once. They are
	// empty if the recording has none; the tools that the model called are known all the same.
	Tools []*genai.FunctionDeclaration
	// Turns are in order. There is at least one after reading.
	Turns []Turn
	// Compactions are those of the recorded application, in order.
	Compactions []Compaction
	// Questions are about the conversation, with accepted answers.
	Questions []Question
	// Notes list what was changed, left out or made up to get the normal form, one for each kind,
	// such as "empty answers, left out: 3".
	Notes []string
}

// Turn is a message of the user and the agent's answers to it.
type Turn struct {
	// User is the message: role "user", at least one part. Consecutive user messages are one
	// message, with the parts of all. If the recording has no answer at all, each is a turn of its
	// own.
	User *genai.Content
	// Steps are the model's answers. All but the last call tools. If the last one does too, the
	// turn was interrupted: the user spoke before the model read the results. A turn without steps
	// has no answer in the recording.
	Steps []Step
}

// Step is one answer of the model and the results of the tools that it called.
type Step struct {
	// Message is the index of the recorded message or event with which the answer begins. It counts
	// from 0.
	Message int
	// Answer has the role "model", and text, thoughts and function calls. Every call has an ID that
	// is unique in the conversation.
	Answer *genai.Content
	// Responses has one response for each function call of Answer, in the same order, with the ID
	// and the name of the call.
	Responses []*genai.FunctionResponse
	// PromptTokens and OutputTokens are the provider's own counts for the call that returned
	// Answer, 0 if not recorded. PromptTokens is the whole prompt of the recorded application, with
	// instructions and tool declarations that the recording may not contain.
	PromptTokens, OutputTokens int
	// Time is when the answer was recorded, the zero time if unknown.
	Time time.Time
}

// Compaction is a compaction that the recorded application made.
type Compaction struct {
	// Turn and Step are where it happened: Turns[Turn].Steps[Step] is the first answer after it.
	Turn, Step int
	// Trigger is the recorded reason, such as "auto" or "manual".
	Trigger string
	// PromptTokens is the recorded size of the prompt before it, 0 if unknown.
	PromptTokens int
	// Summary is the text that replaced everything before it.
	Summary string
}

// Question is a question about the conversation.
type Question struct {
	ID, Text string
	// Answers are the accepted answers. One of them is enough. A question without any cannot be
	// scored.
	Answers []string
	// Unanswerable is true if, by the recording, the conversation does not contain the answer.
	Unanswerable bool
	// Literal is true if, by the recording, the conversation contains an answer word for word.
	Literal bool
}

// Messages counts the messages: each user message, each answer and each response.
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
