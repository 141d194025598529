package subtask

import (
	"cmp"
	"strings"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/tokens"
)

// Spec is what one subtask is to do. Message is required.
type Spec struct {
	// Name is the name of the subtask's agent, for telemetry and reports. "" means "subtask".
	Name string
	// System is the system prompt. It is sent as it is: braces are not replaced by state, as ADK does with
	// the instruction of an agent.
	System string
	// Message is the question.
	Message string
	// Model runs this subtask. If nil, it is the runner's.
	Model model.LLM
	// Tools are the tools of the subtask, the very values that an agent would have. Tools that start subtasks
	// themselves are refused, see [Config].Depth.
	Tools []tool.Tool

	// MaxTurns is the largest number of model calls. The last one goes without tools. 0 means that of
	// [Config].Limits, in the end DefaultMaxTurns.
	MaxTurns int
	// Wall is the longest time, not counting the wait for other subtasks. 0 means that of [Config].Limits, in
	// the end DefaultWall.
	Wall time.Duration
	// Tokens and USD are the most that the subtask may use. 0 means those of [Config].Limits, in the end what
	// the parent has left. What the parent has left is a limit in any case.
	Tokens int
	USD    tokens.Nano
	// MaxReplyTokens bounds the text of the result, in estimated tokens. 0 means that of [Config].
	MaxReplyTokens int
}

// defaultName is the name of a subtask whose spec has none.
const defaultName = "subtask"

// minReplyTokens leaves room for the reason why a result is truncated.
const minReplyTokens = 100

func (s *Spec) check(depth int) error {
	var p configerr.Problems
	if strings.TrimSpace(s.Message) == "" {
		p.Refuse("Spec.Message", s.Message, "ask the subtask something")
	}
	if s.Name == "user" {
		p.Refuse("Spec.Name", s.Name, "ADK keeps this name for people; choose another one")
	}
	if adk.IsNil(s.Model) {
		p.Refuse("Spec.Model", nil, "neither the spec nor the runner's config has a model")
	}
	checkLimits(&p, "Spec.", "MaxTurns", s.limits())
	if s.MaxReplyTokens < minReplyTokens {
		p.Refuse("Spec.MaxReplyTokens", s.MaxReplyTokens, "use at least %d, or 0 for that of the config", minReplyTokens)
	}
	for _, t := range s.Tools {
		switch {
		case adk.IsNil(t):
			p.Refuse("Spec.Tools", nil, "one of them is nil: create the tool first, and check its error")
		case depth <= 1 && isAgentic(t):
			p.Refuse("Spec.Tools", t.Name(), "a subtask must not start another one (Config.Depth is %d): give it the bare tools", max(depth, 1))
		}
	}
	return p.Join("subtask spec")
}

func (s *Spec) limits() guard.Limits {
	return guard.Limits{USD: s.USD, ModelCalls: s.MaxTurns, Tokens: s.Tokens, Wall: s.Wall}
}

// complete fills the defaults, and checks the result. levels is how many subtasks may still run inside each
// other.
func (r *Runner) complete(s Spec, levels int) (Spec, error) {
	s.Name = cmp.Or(s.Name, defaultName)
	s.MaxTurns = cmp.Or(s.MaxTurns, r.cfg.Limits.ModelCalls)
	s.Wall = cmp.Or(s.Wall, r.cfg.Limits.Wall)
	s.Tokens = cmp.Or(s.Tokens, r.cfg.Limits.Tokens)
	s.USD = cmp.Or(s.USD, r.cfg.Limits.USD)
	s.MaxReplyTokens = cmp.Or(s.MaxReplyTokens, r.cfg.MaxReplyTokens)
	switch {
	case s.Model != nil:
	case r.cfg.Model != nil:
		s.Model = r.cfg.Model
	default:
		s.Model = r.cfg.Parent
	}
	return s, s.check(levels)
}

// Result is how a subtask has ended.
type Result struct {
	// Text is the answer. If Truncated, it begins with the reason.
	Text string
	// Truncated reports that the answer may be incomplete: a limit, an error, the parent's cancellation, or a
	// cut reply has ended the subtask, or the answer was longer than allowed. Reason says which.
	Truncated bool
	Reason    string
	// Stopped is the limit that has ended the subtask, or refused it before its first call. Nil if none has.
	Stopped *guard.StopError
	// Turns is the number of model calls.
	Turns int
	// Usage and USD are those of all model calls. The parent's totals include them. Unpriced reports that the
	// prices of a model are not known, so that USD is too low.
	Usage    tokens.Usage
	USD      tokens.Nano
	Unpriced bool
	// Model is the name of the model, and ParentModel reports that it is the parent's, because the config has
	// no other.
	Model       string
	ParentModel bool
	// SessionID is the session of the subtask, "" if it was refused before it started.
	SessionID string
}
