package compaction

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// policy is a Config whose values are filled in, checked, and turned into what is asked for at run time.
type policy struct {
	Config
	summarizer Summarizer
	// threshold is the prompt size that makes the token trigger due; 0 where it is off.
	threshold int
	// limit is the prompt size that forces a compaction before the next prompt.
	limit int
	// most is the prompt size beyond which a provider refuses: the context window, less MaxOutputTokens
	// only if the caller set it. A reserve by default is given up before a session is.
	most int
	// slack is what lies between limit and the end of the effective window. At the limit a window that
	// frees less is not worth a call for every event that comes in.
	slack int
	// windowTokens bounds what one summarizer call is given.
	windowTokens int
	// summaryTokens is how long a summary is asked to be: MaxSummaryTokens, or less where as many
	// summaries as may be shown would otherwise fill the prompt by themselves.
	summaryTokens int
	// allSummaries is what the summaries of a branch may take up together; one that exceeds it is cut.
	allSummaries int
}

// templatePlaceholder is what a prompt template must contain.
const templatePlaceholder = "{{history}}"

// newPolicy checks cfg and fills its defaults on a copy. All that is wrong is reported at once.
func newPolicy(cfg Config) (*policy, error) {
	p := &policy{Config: cfg}
	problems := checkValues(cfg)
	p.fillDefaults()
	p.fillWindow()
	p.most = p.ContextWindow - max(0, cfg.MaxOutputTokens)
	if len(problems) == 0 {
		problems = p.checkTokens()
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("compaction config: %w", errors.Join(problems...))
	}
	return p, p.setSummarizer()
}

// checkValues refuses values that no other value could make right.
func checkValues(cfg Config) []error {
	var problems []error
	problem := func(field string, value any, format string, args ...any) {
		problems = append(problems, &ConfigError{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)})
	}
	for _, field := range []struct {
		name  string
		value int
		off   bool // Off is a value of it
	}{
		{"InvocationThreshold", cfg.InvocationThreshold, true},
		{"OverlapSize", cfg.OverlapSize, false},
		{"TokenThreshold", cfg.TokenThreshold, true},
		{"ContextWindow", cfg.ContextWindow, false},
		{"MaxOutputTokens", cfg.MaxOutputTokens, true},
		{"RetainEvents", cfg.RetainEvents, false},
		{"MaxSummaries", cfg.MaxSummaries, false},
		{"MaxSummaryTokens", cfg.MaxSummaryTokens, false},
	} {
		switch {
		case field.value >= 0 || field.off && field.value == Off:
		case field.off:
			problem(field.name, field.value, "it must not be negative; Off (%d) turns it off", Off)
		default:
			problem(field.name, field.value, "it must not be negative; 0 is the default")
		}
	}
	if cfg.Timeout < 0 {
		problem("Timeout", cfg.Timeout, "it must not be negative; 0 is the default of %v", defaultTimeout)
	}
	if !(cfg.SafetyRatio >= 0 && cfg.SafetyRatio <= 1 || cfg.SafetyRatio == Off) {
		problem("SafetyRatio", cfg.SafetyRatio, "it is a share of the context window, up to 1; Off (%d) turns it off", Off)
	}
	if cfg.Model == nil && cfg.Summarizer == nil {
		problem("Model", nil, "and so is Summarizer: no summary could be written; set one (summarizer.Extractive{} needs no model)")
	}
	if cfg.PromptTemplate != "" && cfg.Summarizer != nil {
		problem("PromptTemplate", cfg.PromptTemplate, "it has no effect with Summarizer: set it on the summarizer instead")
	}
	if cfg.PromptTemplate != "" && !strings.Contains(cfg.PromptTemplate, templatePlaceholder) {
		problem("PromptTemplate", cfg.PromptTemplate, "it lacks %s: the summarizer would never see the conversation", templatePlaceholder)
	}
	return problems
}

// fillDefaults gives zero numbers their defaults. What is off is 0 from here on.
func (p *policy) fillDefaults() {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
		{&p.InvocationThreshold, defaultInvocationThreshold},
		{&p.OverlapSize, defaultOverlapSize},
		{&p.RetainEvents, defaultRetainEvents},
		{&p.MaxSummaries, defaultMaxSummaries},
		{&p.MaxSummaryTokens, defaultMaxSummaryTokens},
	} {
		if *field.value == 0 {
			*field.value = field.fallback
		}
	}
	if p.Timeout == 0 {
		p.Timeout = defaultTimeout
	}
	if p.SafetyRatio == 0 {
		p.SafetyRatio = defaultSafetyRatio
	}
	if p.TokenThreshold == Off {
		p.SafetyRatio = Off
	}
	p.InvocationThreshold = max(0, p.InvocationThreshold)
	p.TokenThreshold = max(0, p.TokenThreshold)
	p.SafetyRatio = max(0, p.SafetyRatio)
}

// fillWindow finds out what the agent's model can hold, and how much of that its reply may take up.
func (p *policy) fillWindow() {
	name := p.AgentModel
	if name == "" && p.Model != nil {
		name = p.Model.Name()
	}
	known, _ := tokens.Lookup(name)
	p.ContextWindow = cmp.Or(p.ContextWindow, known.ContextWindow, tokens.DefaultContextWindow)
	switch p.MaxOutputTokens {
	case Off:
		p.MaxOutputTokens = 0
	case 0:
		p.MaxOutputTokens = min(cmp.Or(known.MaxOutputTokens, defaultReply), int(replyShare*float64(p.ContextWindow)))
	}
}

// checkTokens derives the token limits and refuses values that could never take effect.
func (p *policy) checkTokens() []error {
	refuse := func(field string, value any, format string, args ...any) []error {
		return []error{&ConfigError{Field: field, Value: value, Reason: fmt.Sprintf(format, args...)}}
	}
	effective := p.ContextWindow - p.MaxOutputTokens
	if effective <= 0 {
		return refuse("MaxOutputTokens", p.MaxOutputTokens,
			"with a ContextWindow of %d, nothing would be left for the prompt; lower it or set ContextWindow", p.ContextWindow)
	}
	p.limit = int(hardLimit * float64(effective))
	if p.limit < 1 {
		return refuse("ContextWindow", p.ContextWindow,
			"with MaxOutputTokens %d, the hard limit of %v of the rest is no prompt at all; raise ContextWindow or lower MaxOutputTokens", p.MaxOutputTokens, hardLimit)
	}
	p.slack = effective - p.limit
	share := int(math.Ceil(p.SafetyRatio * float64(p.ContextWindow)))
	switch {
	case p.SafetyRatio > 0 && p.TokenThreshold > share:
		return refuse("TokenThreshold", p.TokenThreshold,
			"it would never be reached: SafetyRatio %v × ContextWindow %d = %d is less and fires first; lower it, set SafetyRatio to Off, or set ContextWindow",
			p.SafetyRatio, p.ContextWindow, share)
	case p.TokenThreshold > p.limit:
		return refuse("TokenThreshold", p.TokenThreshold,
			"it would never be reached: a prompt is compacted at the hard limit of %d tokens (%v of ContextWindow %d less MaxOutputTokens %d) at the latest; lower it or set ContextWindow",
			p.limit, hardLimit, p.ContextWindow, p.MaxOutputTokens)
	}
	switch {
	case p.TokenThreshold > 0:
		p.threshold = p.TokenThreshold
	case p.SafetyRatio > 0:
		p.threshold = min(share, p.limit)
	}
	room := p.limit
	if p.threshold > 0 {
		room = p.threshold
	}
	p.summaryTokens = min(p.MaxSummaryTokens, max(minSummary, room/2/p.MaxSummaries))
	p.allSummaries = int(summariesShare * float64(p.limit))
	return nil
}

// summariesShare is how much of the hard limit summaries may take up before they are cut. A summarizer that is asked for less and writes more is usually right; one that writes without end
// must not fill the prompt for ever.
const summariesShare = 0.75

// windowShare is how much of a model's context window a transcript may fill where the summarizer
// does not say: the rest is for the prompt, the answer, and the error of the estimate.
const windowShare = 0.5

// setSummarizer makes the summarizer and finds out how much it can read in one call.
func (p *policy) setSummarizer() error {
	p.summarizer = p.Summarizer
	if p.summarizer == nil {
		cfg := summarizer.LLMConfig{Model: p.Model, Template: p.PromptTemplate}
		if _, known := tokens.Lookup(p.Model.Name()); !known && p.AgentModel == "" {
			cfg.ContextWindow = p.ContextWindow // it is the agent's own model
		}
		llm, err := summarizer.NewLLM(cfg)
		if err != nil {
			return fmt.Errorf("compaction config: %w", err)
		}
		p.summarizer = llm
	}
	p.windowTokens = int(windowShare * tokens.DefaultContextWindow)
	if limited, ok := p.summarizer.(summarizer.InputLimiter); ok {
		p.windowTokens = limited.MaxInputTokens()
	}
	return nil
}
