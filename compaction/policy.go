package compaction

import (
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
	p.ContextWindow = contextWindow(cfg)
	problems = append(problems, p.checkTokens()...)
	if len(problems) > 0 {
		return nil, fmt.Errorf("compaction config: %w", errors.Join(problems...))
	}
	return p, p.setSummarizer()
}

func checkValues(cfg Config) []error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, field := range []struct {
		name  string
		value int
	}{
		{"InvocationThreshold", cfg.InvocationThreshold},
		{"OverlapSize", cfg.OverlapSize},
		{"TokenThreshold", cfg.TokenThreshold},
		{"ContextWindow", cfg.ContextWindow},
		{"MaxOutputTokens", cfg.MaxOutputTokens},
		{"RetainEvents", cfg.RetainEvents},
		{"MaxSummaries", cfg.MaxSummaries},
		{"MaxSummaryTokens", cfg.MaxSummaryTokens},
	} {
		if field.value < 0 {
			problem("%s is %d: it must not be negative", field.name, field.value)
		}
	}
	if cfg.Timeout < 0 {
		problem("Timeout is %v: it must not be negative", cfg.Timeout)
	}
	if cfg.InvocationThreshold > 0 && cfg.OverlapSize == 0 {
		problem("OverlapSize is 0 with InvocationThreshold %d: the turn just answered would be summarized; use at least 1 (DefaultConfig has 2)", cfg.InvocationThreshold)
	}
	if !(cfg.SafetyRatio >= 0 && cfg.SafetyRatio <= 1) {
		problem("SafetyRatio is %v: it is a share of the context window, from 0 (off) to 1", cfg.SafetyRatio)
	}
	if cfg.Model == nil && cfg.Summarizer == nil {
		problem("Model and Summarizer are nil: nothing could write a summary; set one (summarizer.Extractive{} needs no model)")
	}
	if cfg.PromptTemplate != "" && cfg.Summarizer != nil {
		problem("PromptTemplate has no effect with Summarizer: set it on the summarizer instead")
	}
	if cfg.PromptTemplate != "" && !strings.Contains(cfg.PromptTemplate, templatePlaceholder) {
		problem("PromptTemplate lacks %s: the summarizer would never see the conversation", templatePlaceholder)
	}
	return problems
}

func (p *policy) fillDefaults() {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
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
}

func contextWindow(cfg Config) int {
	switch {
	case cfg.ContextWindow != 0:
		return cfg.ContextWindow
	case cfg.AgentModel != "":
		return tokens.ContextWindow(cfg.AgentModel)
	case cfg.Model != nil:
		return tokens.ContextWindow(cfg.Model.Name())
	default:
		return tokens.DefaultContextWindow
	}
}

// checkTokens derives the token limits and refuses values that could never take effect.
func (p *policy) checkTokens() []error {
	var problems []error
	effective := p.ContextWindow - p.MaxOutputTokens
	if p.MaxOutputTokens > 0 && effective <= 0 {
		return append(problems, fmt.Errorf("MaxOutputTokens is %d with a context window of %d: nothing would be left for the prompt; lower it or set ContextWindow",
			p.MaxOutputTokens, p.ContextWindow))
	}
	p.limit = int(hardLimit * float64(effective))
	if p.limit < 1 {
		return append(problems, fmt.Errorf("ContextWindow is %d with MaxOutputTokens %d: the hard limit of %v of what is left is no prompt at all; raise ContextWindow or lower MaxOutputTokens",
			p.ContextWindow, p.MaxOutputTokens, hardLimit))
	}
	p.slack = effective - p.limit
	share := int(math.Ceil(p.SafetyRatio * float64(p.ContextWindow)))
	switch {
	case p.TokenThreshold > 0 && p.SafetyRatio > 0 && p.TokenThreshold > share:
		problems = append(problems, fmt.Errorf("TokenThreshold is %d but would never be reached: SafetyRatio %v × ContextWindow %d = %d is less and fires first; lower it, set SafetyRatio 0, or set ContextWindow",
			p.TokenThreshold, p.SafetyRatio, p.ContextWindow, share))
	case p.TokenThreshold > p.limit:
		problems = append(problems, fmt.Errorf("TokenThreshold is %d but would never be reached: a prompt is compacted at the hard limit of %d tokens (%v of ContextWindow %d less MaxOutputTokens %d) at the latest; lower it or set ContextWindow",
			p.TokenThreshold, p.limit, hardLimit, p.ContextWindow, p.MaxOutputTokens))
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
	return problems
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
	if limited, ok := p.summarizer.(interface{ MaxInputTokens() int }); ok {
		p.windowTokens = limited.MaxInputTokens()
	}
	return nil
}
