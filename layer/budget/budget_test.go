package budget_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/tokens"
)

func TestABudgetIsTheSumOfItsComponents(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name                       string
		b                          budget.Budget
		window, used, left         int
		share                      float64
		exceeds, compact, blocked  bool
		earlyCompact, earlyBlocked bool
	}{
		{name: "zero"},
		{name: "one component each", b: budget.Budget{128_000, 8_000, 10_000, 5_000, 15_000, 70_000}, window: 120_000, used: 100_000, left: 20_000, share: 100_000.0 / 120_000, earlyCompact: true},
		{name: "at the threshold", b: budget.Budget{Total: 1_000, Conversation: 950}, window: 1_000, used: 950, left: 50, share: 0.95, compact: true, earlyCompact: true, earlyBlocked: true},
		{name: "full", b: budget.Budget{Total: 1_000, Conversation: 1_000}, window: 1_000, used: 1_000, share: 1, compact: true, blocked: true, earlyCompact: true, earlyBlocked: true},
		{name: "over", b: budget.Budget{Total: 1_000, Conversation: 1_100}, window: 1_000, used: 1_100, left: -100, share: 1.1, exceeds: true, compact: true, blocked: true, earlyCompact: true, earlyBlocked: true},
	} {
		if got := r.b.EffectiveWindow(); got != r.window {
			t.Errorf("%s: effective window %d, want %d", r.name, got, r.window)
		}
		if got := r.b.UsedTokens(); got != r.used {
			t.Errorf("%s: used %d, want %d", r.name, got, r.used)
		}
		if got := r.b.RemainingTokens(); got != r.left {
			t.Errorf("%s: remaining %d, want %d", r.name, got, r.left)
		}
		if got := r.b.UsedPercentage(); math.Abs(got-r.share) > 1e-9 {
			t.Errorf("%s: share %v, want %v", r.name, got, r.share)
		}
		if got := r.b.ExceedsBudget(); got != r.exceeds {
			t.Errorf("%s: exceeds %v, want %v", r.name, got, r.exceeds)
		}
		for _, p := range []struct {
			name             string
			t                budget.Thresholds
			compact, blocked bool
		}{{"default", budget.Thresholds{}, r.compact, r.blocked}, {"early", budget.Early, r.earlyCompact, r.earlyBlocked}} {
			if got := p.t.ShouldCompact(r.b); got != p.compact {
				t.Errorf("%s, %s: ShouldCompact %v", r.name, p.name, got)
			}
			if got := p.t.IsBlocked(r.b); got != p.blocked {
				t.Errorf("%s, %s: IsBlocked %v", r.name, p.name, got)
			}
		}
	}
}

const skillList = "<available_skills>\n<skill>\n<name>\npdf\n</name>\n<description>\nReads PDF files page by page.\n</description>\n</skill>\n</available_skills>"

func TestNoTokenOfARequestCountsTwice(t *testing.T) {
	t.Parallel()
	hello := genai.NewContentFromText("Hello, how are you?", genai.RoleUser)
	find := &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "find", Description: "Finds things."}}}
	rules := strings.Repeat("Be brief. ", 20)
	intro := "You can use specialized 'skills' to help you.\n\n"
	for _, r := range []struct {
		name, instruction string
		skills            string
	}{
		{"no skills", rules, ""},
		{"a list of skills", rules + "\n\n" + skillList, skillList},
		{"a list with its explanation", rules + "\n\n" + intro + skillList + "\n\nThe end.", intro + skillList},
		{"a list that does not end", rules + "<available_skills>", ""},
		{"nothing but skills", skillList, skillList},
	} {
		req := &model.LLMRequest{
			Contents: []*genai.Content{hello, hello},
			Config: &genai.GenerateContentConfig{
				SystemInstruction: genai.NewContentFromText(r.instruction, genai.RoleUser), Tools: []*genai.Tool{find},
			},
		}
		var b budget.Budget
		b.MeasureUsage(req)
		contents, fixed := promptsize.OfRequest(req)
		if b.UsedTokens() != contents+fixed || b.Conversation != contents {
			t.Errorf("%s: %+v, want %d of contents and %d besides", r.name, b, contents, fixed)
		}
		if want := tokens.Estimate(r.skills); b.SkillPrompts != want {
			t.Errorf("%s: skills take up %d, want %d", r.name, b.SkillPrompts, want)
		}
		b.MeasureUsage(nil)
		if b.UsedTokens() != 0 {
			t.Errorf("%s: no request takes up %d", r.name, b.UsedTokens())
		}
	}
}

func TestThresholdsThatContradictEachOtherAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		name   string
		t      budget.Thresholds
		fields string
	}{
		{"defaults", budget.Thresholds{}, ""},
		{"standard", budget.Standard, ""},
		{"early", budget.Early, ""},
		{"all off", budget.Thresholds{compaction.Off, compaction.Off, compaction.Off}, ""},
		{"no note", budget.Thresholds{compaction.Off, 0.3, 0.4}, ""},
		{"the whole window", budget.Thresholds{Block: 1}, ""},
		{"note at compact", budget.Thresholds{Note: 0.95}, "Thresholds.Compact"},
		{"compact under the default of note", budget.Thresholds{Compact: 0.7}, "Thresholds.Compact"},
		{"compact over block", budget.Thresholds{Compact: 0.99}, "Thresholds.Block"},
		{"over the window", budget.Thresholds{Block: 1.01}, "Thresholds.Block"},
		{"negative", budget.Thresholds{Note: -0.5, Compact: -2}, "Thresholds.Note Thresholds.Compact"},
		{"percent", budget.Thresholds{80, 95, 98}, "Thresholds.Note Thresholds.Compact Thresholds.Block"},
		{"no number", budget.Thresholds{Note: math.NaN()}, "Thresholds.Note"},
	} {
		_, err := budget.New(budget.Config{Thresholds: r.t})
		if got := strings.Join(fieldsOf(err), " "); got != r.fields {
			t.Errorf("%s: refused %q, want %q: %v", r.name, got, r.fields, err)
		}
	}
}

// fieldsOf returns the fields that an error of New names.
func fieldsOf(err error) []string {
	if err == nil {
		return nil
	}
	var fields []string
	joined, ok := errors.Unwrap(err).(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	for _, e := range joined.Unwrap() {
		var problem *compaction.ConfigError
		if !errors.As(e, &problem) {
			return []string{e.Error()}
		}
		fields = append(fields, problem.Field)
	}
	return fields
}

func TestNumbersThatCannotTakeEffectAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := budget.New(budget.Config{ContextWindow: -1, MaxOutputTokens: -2, Thresholds: budget.Thresholds{Block: 2}})
	if got := strings.Join(fieldsOf(err), " "); got != "Thresholds.Block ContextWindow MaxOutputTokens" {
		t.Errorf("refused %q: %v", got, err)
	}
	_, err = budget.New(budget.Config{ContextWindow: 10_000, MaxOutputTokens: 5_001})
	if got := strings.Join(fieldsOf(err), " "); got != "MaxOutputTokens" {
		t.Errorf("refused %q: %v", got, err)
	}
	if !strings.Contains(err.Error(), "MaxOutputTokens is 5001") {
		t.Errorf("the error does not name the value: %v", err)
	}
}
