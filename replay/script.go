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

// placeholder answers a message that the recording does not answer.
const placeholder = "(The recording has no answer here.)"

var _ model.LLM = (*script)(nil)

// script is the agent's model. It gives the recorded answers, in order. The runner asks for one at
// a time.
type script struct {
	c       *conversation.Conversation
	request func(call, turn int, req *model.LLMRequest) int
	ratio   float64

	turn   int
	step   int // index of the next answer in the turn
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

// next returns the next answer of the turn. Beyond the recording it is the placeholder, which
// counts as an extra call unless it answers a message that has no recorded answer.
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
	return textContent(placeholder, genai.RoleModel)
}

// interrupted reports whether the recording has no further answer in this turn. After the results
// of a call, this means that the recorded turn was interrupted.
func (s *script) interrupted() bool { return s.step >= len(s.c.Turns[s.turn].Steps) }

// longestAnswer is more tokens than any model writes in one answer, thoughts included.
const longestAnswer = 200_000

// outputTokens is the recorded size of an answer, or an estimate where the recorded one cannot be
// right: some recordings hold the count of a stream's first chunk, which is far less than the text,
// and others a count that no model can write.
func outputTokens(step conversation.Step) int {
	if estimate := tokens.OfContent(step.Answer); step.OutputTokens < estimate/2 || step.OutputTokens > longestAnswer {
		return estimate
	}
	return step.OutputTokens
}

// implausibleOutputs counts the answers whose recorded size no model can write.
func implausibleOutputs(c *conversation.Conversation) (n int) {
	for _, turn := range c.Turns {
		for _, step := range turn.Steps {
			if step.OutputTokens > longestAnswer {
				n++
			}
		}
	}
	return n
}
