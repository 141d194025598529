package replaycmd

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/chatcmd"
	"github.com/adk-go-ext/longsession/internal/wrapper"
	"github.com/adk-go-ext/longsession/tokens"
)

// spending is what the models that write summaries have cost in a run, and may cost.
type spending struct {
	most tokens.Nano

	mu    sync.Mutex
	spent tokens.Nano // with the prompts of calls under way
	stop  context.CancelCauseFunc
}

// overspent is the cause of a run that ends because its summaries would cost too much.
type overspent struct{ spent, most tokens.Nano }

func (o *overspent) Error() string {
	return fmt.Sprintf("the summaries have cost %v, and the next call may take them over --max-summary-cost-usd %v: allow more, or play fewer conversations (--limit, --only)", o.spent, o.most)
}

// bounded returns a model that is not called if its prompt alone would take the cost over the limit. The answer is not known
// before, so the last one may.
func (s *spending) bounded(llm model.LLM, price tokens.Model) model.LLM {
	return wrapper.New(llm, s, "replay", func(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
		return func(yield func(*model.LLMResponse, error) bool) {
			expected := tokens.Usage{}
			for _, content := range req.Contents {
				expected.PromptTokens += tokens.OfContent(content)
			}
			if err := s.reserve(price.Nanos(expected)); err != nil {
				yield(nil, err)
				return
			}
			var used tokens.Usage
			var failed error
			defer func() {
				if used.Total() == 0 && (ctx.Err() != nil || chatcmd.GivenUp(failed)) {
					used = expected // given up, and not refused
				}
				s.settle(price.Nanos(expected), price.Nanos(used))
			}()
			for resp, err := range llm.GenerateContent(ctx, req, stream) {
				if failed = err; err == nil && resp != nil {
					used = usageOf(resp, expected, used)
				}
				if !yield(resp, err) {
					return
				}
			}
		}
	})
}

// usageOf is what a call has used by now, by estimate if the response does not say it.
func usageOf(resp *model.LLMResponse, expected, before tokens.Usage) tokens.Usage {
	used := tokens.UsageOf(resp.UsageMetadata)
	if used.Total() == 0 {
		used = expected
		used.OutputTokens = tokens.OfContent(resp.Content)
	}
	if used.Total() < before.Total() {
		return before
	}
	return used
}

// reserve takes what a call is expected to cost. If that is too much, the run ends.
func (s *spending) reserve(cost tokens.Nano) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spent+cost <= s.most {
		s.spent += cost
		return nil
	}
	err := &overspent{s.spent, s.most}
	if s.stop != nil {
		s.stop(err)
	}
	return err
}

// settle replaces what a call was expected to cost by what it did.
func (s *spending) settle(expected, cost tokens.Nano) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += cost - expected
}
