package replay

import (
	"context"
	"iter"
	"math"

	"google.golang.org/adk/model"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/tokens"
)

// standIn answers a message that the recording does not answer.
const standIn = "(The recording has no answer here.)"

var _ model.LLM = (*script)(nil)

// script is the model: it gives the recorded answers, in order. The runner asks it for one at a time.
type script struct {
	c       *conversation.Conversation
	request func(call, turn int, req *model.LLMRequest) int
	ratio   float64

	turn   int
	step   int // of the next answer
	played Played
}

// Name implements [model.LLM].
func (s *script) Name() string { return "recording" }

// GenerateContent implements [model.LLM].
func (s *script) GenerateContent(_ context.Context, req *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		prompt := 0
		if s.request != nil {
			prompt = s.request(s.played.Calls, s.turn, req)
		}
		s.played.Calls++
		answer := s.next()
		output := int(math.Ceil(s.ratio * float64(tokens.OfContent(answer))))
		resp := &model.LLMResponse{Content: answer, TurnComplete: true, FinishReason: genai.FinishReasonStop}
		if prompt > 0 {
			resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{
				PromptTokenCount:     int32(prompt),
				CandidatesTokenCount: int32(output),
				TotalTokenCount:      int32(prompt + output),
			}
		}
		yield(resp, nil)
	}
}

func (s *script) begin(turn int) { s.turn, s.step = turn, 0 }

// next is the answer that is due.
func (s *script) next() *genai.Content {
	steps := s.c.Turns[s.turn].Steps
	i := s.step
	s.step++
	if i < len(steps) {
		return adk.DeepCopy(steps[i].Answer)
	}
	if i > 0 || len(steps) > 0 {
		s.played.Extra++
	}
	return textContent(standIn, genai.RoleModel)
}

// interrupted reports whether the recording has no answer to the results of this turn's last calls.
func (s *script) interrupted() bool { return s.step >= len(s.c.Turns[s.turn].Steps) }

// longestAnswer is more tokens than any model writes in one answer, its thoughts among them.
const longestAnswer = 200_000

// outputTokens is the recorded size of an answer, or an estimate. Some recordings hold the count of a
// stream's first chunk, which is far less than what was said; one that no model can write is not followed.
func outputTokens(step conversation.Step) int {
	if estimate := tokens.OfContent(step.Answer); step.OutputTokens < estimate/2 || step.OutputTokens > longestAnswer {
		return estimate
	}
	return step.OutputTokens
}

// outputLies is how many answers are recorded as longer than any can be.
func outputLies(c *conversation.Conversation) (n int) {
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			if step.OutputTokens > longestAnswer {
				n++
			}
		}
	}
	return n
}
