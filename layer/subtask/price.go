package subtask

import (
	"google.golang.org/genai"

	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// shortReply is the shortest reply that is worth a call, in tokens.
const shortReply = 100

// firstCall estimates what the first call of a subtask uses, with a short reply.
func firstCall(s *Spec) tokens.Usage {
	prompt := tokens.Estimate(s.System) + promptsize.OfContent(genai.NewContentFromText(s.Message, genai.RoleUser))
	for _, t := range s.Tools {
		if d, ok := t.(interface {
			tool.Tool
			Declaration() *genai.FunctionDeclaration
		}); ok {
			prompt += promptsize.OfDeclaration(d.Declaration())
		}
	}
	return tokens.Usage{PromptTokens: prompt, OutputTokens: shortReply}
}

// tooLittle reports whether the first call of a subtask would use more than what is left, and returns the
// limit that it would pass. A limit of 0 is off. The price of a model without prices is unknown, so money does
// not count for it.
func (r *Runner) tooLittle(s *Spec, left guard.Limits) *guard.StopError {
	use := firstCall(s)
	if left.Tokens > 0 && use.Total() > left.Tokens {
		return &guard.StopError{Kind: guard.TokenLimit, Scope: guard.ScopeSubtask, Spent: "0 tokens", Bound: amount(left.Tokens, "token")}
	}
	m, known := r.cfg.Registry.Lookup(s.Model.Name())
	if left.USD > 0 && known && m.Priced() && m.Nanos(use) > left.USD {
		return &guard.StopError{Kind: guard.CostCeiling, Scope: guard.ScopeSubtask, Spent: tokens.Nano(0).String(), Bound: left.USD.String()}
	}
	return nil
}
