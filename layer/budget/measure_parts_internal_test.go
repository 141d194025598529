package budget

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/tokens"
)

// The section of skills counts as skills, and an instruction that stays the same keeps its number whatever providers count.
func TestEachComponentKeepsItsOwnNumber(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{ContextWindow: 100_000, Sections: func(context.Context) []string { return []string{"base", "skills"} }})
	who := caller{ref: ref, agent: "assistant", model: "test-model", sections: m.cfg.sectionsIn(t.Context(), &m.places)}
	base, skills := strings.Repeat("word ", 80), "Skills: pdf, xlsx."
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: base}, {Text: skills}}},
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "find", Description: "Finds it."}}}},
	}}
	var first Budget
	for i := range 12 {
		req.Contents = append(req.Contents, genai.NewContentFromText(strings.Repeat("word ", 200), genai.RoleUser))
		got := m.measure(who, req)
		m.sent(t.Context(), who, got, 0)
		m.reported(t.Context(), who, got, answer{usage: &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: int32(got.estimate() * (8 + i%5) / 10)}})
		now := m.Tracker(ref).Budget()
		if i == 0 {
			first = got.Budget
		}
		for _, b := range []Budget{got.Budget, now} {
			if b.SystemPrompt != first.SystemPrompt || b.SkillPrompts != first.SkillPrompts || b.ToolDescriptions != first.ToolDescriptions {
				t.Errorf("request %d: %+v, at first %+v", i+1, b, first)
			}
		}
		if now.UsedTokens() != int(float64(got.estimate()*(8+i%5)/10)) && i == 0 {
			t.Errorf("the request has %d tokens, the provider counted %d", now.UsedTokens(), got.estimate()*8/10)
		}
	}
	if first.SkillPrompts != tokens.Estimate(skills) || first.SystemPrompt < tokens.Estimate(base)-1 || first.ToolDescriptions == 0 {
		t.Errorf("%+v: the skills have %d tokens, the base %d", first, tokens.Estimate(skills), tokens.Estimate(base))
	}
	// A size below that of the fixed part is still the sum.
	if b := m.measure(who, req).sized(50); b.UsedTokens() != 50 || b.Conversation != 0 {
		t.Errorf("%+v", b)
	}
}
