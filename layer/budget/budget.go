package budget

import (
	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/tokens"
)

// Budget is the context window of a model, and what a request takes up in it. All fields are in
// tokens. The zero value has no window, so everything exceeds it. A Budget is a plain value; all
// methods but [Budget.MeasureUsage] may be called concurrently.
//
// The four components do not overlap, and their sum is the whole request.
type Budget struct {
	// Total is the model's context window.
	Total int
	// MaxOutputTokens is reserved in it for the reply.
	MaxOutputTokens int

	// SystemPrompt is the system instruction without the skills in it: the app's own text, project
	// files such as AGENTS.md, memories.
	SystemPrompt int
	// SkillPrompts is the part of the system instruction that skills take up. Skills that the model
	// has loaded with a tool are tool results, and count as Conversation.
	SkillPrompts int
	// ToolDescriptions is the names, descriptions and schemas of all declared tools.
	ToolDescriptions int
	// Conversation is the messages, calls and results.
	Conversation int
}

// EffectiveWindow is what a request may take up: Total less MaxOutputTokens.
func (b Budget) EffectiveWindow() int { return b.Total - b.MaxOutputTokens }

// UsedTokens is the size of the request: the sum of its four components.
func (b Budget) UsedTokens() int {
	return b.SystemPrompt + b.SkillPrompts + b.ToolDescriptions + b.Conversation
}

// RemainingTokens is the part of the effective window that is free. It is negative if the request
// exceeds the window, by as much.
func (b Budget) RemainingTokens() int { return b.EffectiveWindow() - b.UsedTokens() }

// UsedPercentage is the used share of the effective window, as thresholds are: 0.83 is 83%. It is more
// than 1 if the request exceeds the window.
func (b Budget) UsedPercentage() float64 {
	return float64(b.UsedTokens()) / float64(max(1, b.EffectiveWindow()))
}

// ExceedsBudget reports whether the request is larger than the effective window.
func (b Budget) ExceedsBudget() bool { return b.UsedTokens() > b.EffectiveWindow() }

// MeasureUsage sets the four components to estimates of a request, without a provider's counts.
// Skills are what ADK's skill toolset has written into the system instruction. A nil request has no
// tokens.
func (b *Budget) MeasureUsage(req *model.LLMRequest) {
	b.SystemPrompt, b.SkillPrompts, b.ToolDescriptions, b.Conversation = 0, 0, 0, 0
	if req == nil {
		return
	}
	for _, c := range req.Contents {
		b.Conversation += promptsize.OfContent(c)
	}
	if req.Config == nil {
		return
	}
	b.ToolDescriptions, _ = promptsize.OfTools(req.Config.Tools)
	if instruction := req.Config.SystemInstruction; instruction != nil {
		all := tokens.OfContent(instruction)
		b.SkillPrompts = ofSkills(textOf(instruction), listedSkills, all)
		b.SystemPrompt = all - b.SkillPrompts
	}
}
