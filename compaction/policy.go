package compaction

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/compactor"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// policy is a checked Config with defaults filled in, translated for the engine. A trigger that is
// off is 0. ContextWindow and MaxOutputTokens keep the caller's values.
type policy struct {
	Config
	summarizer Summarizer
	// sizes are the fields that limits follow from, and limits those for the agent's model as it is
	// known from the start.
	sizes  meter.Config
	limits *meter.Limits
	// windowTokens bounds what one summarizer call is given.
	windowTokens int
	byPrice      bool // instead of by turns
}

// engine translates the policy for the engine of a service over inner.
func (p *policy) engine(inner session.Service) compactor.Config {
	cfg := compactor.Config{
		Threshold: p.InvocationThreshold, Overlap: p.OverlapSize, Retain: p.RetainEvents, MaxSummaries: p.MaxSummaries,
		WindowTokens: p.windowTokens, Timeout: p.Timeout, Synchronous: p.Synchronous, Pin: p.Pin, Summarizer: p.summarizer,
		Sizes: p.sizes, Limits: p.limits, CheckpointTool: p.CheckpointTool, CheckpointTokens: p.CheckpointTokens,
		Redact: p.Redact, IsPerson: p.IsPerson, Shows: p.shows(), ModelOf: p.AgentModelFunc, MaySummarize: p.MaySummarize,
	}
	if leaser, ok := inner.(Leaser); ok {
		cfg.Lease = leaser.Lease
	}
	if p.Lease != nil {
		cfg.Lease = func(ctx context.Context, sess session.Session, ttl time.Duration) (release func(), ok bool, err error) {
			return p.Lease(ctx, adk.RefOf(sess), ttl)
		}
	}
	return cfg
}

// hooks translates the functions that views and sizes depend on.
func (p *policy) hooks() (h sessions.Hooks) {
	h.Shows, h.Fits, h.Cut, h.Fixed = p.shows(), p.Fits, p.Cut, p.Fixed
	return h
}

// shows is what views show besides what is stored.
func (p *policy) shows() view.Options {
	return view.Options{RecallTool: p.RecallTool, RecallOffered: p.RecallOffered}
}

// provider may know whose model writes the summaries. It is the model if the service made the
// summarizer for it, else the summarizer.
func (p *policy) provider() any {
	if p.Summarizer != nil {
		return p.Summarizer
	}
	return p.Model
}

// templatePlaceholder is what a prompt template must contain.
const templatePlaceholder = "{{history}}"

// newPolicy checks cfg and fills in defaults on a copy. It reports every problem at once.
func newPolicy(cfg Config) (*policy, error) {
	p := &policy{Config: cfg}
	problems := checkValues(cfg)
	p.fillDefaults()
	if len(problems) == 0 {
		p.sizes = meter.Config{
			Registry: p.Registry, ContextWindow: p.ContextWindow, MaxOutputTokens: p.MaxOutputTokens,
			SafetyRatio: p.SafetyRatio, BlockRatio: p.BlockRatio, TokenThreshold: p.TokenThreshold,
			MaxSummaries: p.MaxSummaries, MaxSummaryTokens: p.MaxSummaryTokens, MaxLedgerTokens: p.MaxLedgerTokens, ModelChanges: p.AgentModelFunc != nil,
			RetainTokens: p.RetainTokens, ByPrice: p.byPrice, Retain: p.RetainEvents, SummaryModel: p.summaryModel(), FreeSummaries: isFree(p.Summarizer),
		}
		p.sizes.UserTokens, p.sizes.UserTokensWithTools = p.MaxUserTokens, p.MaxUserTokens
		if p.MaxUserTokens == 0 {
			p.sizes.UserTokens, p.sizes.UserTokensWithTools = defaultUserTokens, defaultUserTokensWithTools
		}
		p.sizes.UserTokens, p.sizes.UserTokensWithTools = max(0, p.sizes.UserTokens), max(0, p.sizes.UserTokensWithTools)
		p.limits = p.sizes.Limits(p.agentModel())
		problems = p.checkTokens()
	}
	if err := problems.Join("compaction config"); err != nil {
		return nil, err
	}
	if err := p.setSummarizer(); err != nil {
		return nil, err
	}
	if _, limited := p.summarizer.(summarizer.InputLimiter); limited {
		p.sizes.PieceTokens = p.windowTokens
		p.limits = p.sizes.Limits(p.agentModel())
	}
	return p, nil
}

// maxToolName is the longest name of a tool that Gemini accepts. OpenAI and Anthropic accept as many.
const maxToolName = 64

var toolName = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_.:-]{1,%d}$`, maxToolName))

// checkValues refuses values that are wrong whatever the other fields are.
func checkValues(cfg Config) (p configerr.Problems) {
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
		{"RetainTokens", cfg.RetainTokens, true},
		{"MaxSummaries", cfg.MaxSummaries, false},
		{"MaxSummaryTokens", cfg.MaxSummaryTokens, false},
		{"MaxLedgerTokens", cfg.MaxLedgerTokens, true},
		{"MaxUserTokens", cfg.MaxUserTokens, true},
		{"CheckpointTokens", cfg.CheckpointTokens, true},
	} {
		switch {
		case field.value >= 0 || field.off && field.value == Off:
		case field.off:
			p.Refuse(field.name, field.value, "it must not be negative; Off (%d) turns it off", Off)
		default:
			p.Refuse(field.name, field.value, "it must not be negative; 0 is the default")
		}
	}
	if cfg.Timeout < 0 {
		p.Refuse("Timeout", cfg.Timeout, "it must not be negative; 0 is the default of %v", defaultTimeout)
	}
	if !(cfg.SafetyRatio >= 0 && cfg.SafetyRatio <= 1 || cfg.SafetyRatio == Off) {
		p.Refuse("SafetyRatio", cfg.SafetyRatio, "it is a share of the effective window, up to 1; Off (%d) turns it off", Off)
	}
	if !(cfg.BlockRatio >= 0 && cfg.BlockRatio <= 1) {
		p.Refuse("BlockRatio", cfg.BlockRatio, "it is a share of the effective window, up to 1; 0 is the default of %v", defaultBlockRatio)
	}
	for _, field := range []struct {
		name  string
		value any
	}{{"Model", cfg.Model}, {"Summarizer", cfg.Summarizer}} {
		p.RefuseNilIn(field.name, field.value)
	}
	if cfg.CheckpointTool != strings.TrimSpace(cfg.CheckpointTool) {
		p.Refuse("CheckpointTool", cfg.CheckpointTool, "it begins or ends with a space, and no tool has such a name")
	}
	if cfg.RecallTool != "" && !toolName.MatchString(cfg.RecallTool) {
		p.Refuse("RecallTool", cfg.RecallTool, "no provider accepts a tool of that name: use up to %d letters, digits, _, -, . and :", maxToolName)
	}
	if cfg.CheckpointTokens > 0 && cfg.CheckpointTool == "" {
		p.Refuse("CheckpointTokens", cfg.CheckpointTokens, "it has no effect without CheckpointTool: set that too, or leave this 0")
	}
	if cfg.AgentModel != "" && cfg.AgentModelFunc != nil {
		p.Refuse("AgentModel", cfg.AgentModel, "it has no effect with AgentModelFunc: set one of them")
	}
	if cfg.Model == nil && cfg.Summarizer == nil {
		p.Refuse("Model", nil, "Summarizer is nil too, so no summary can be written; set one of them (summarizer.Extractive{} needs no model)")
	}
	if cfg.PromptTemplate != "" && cfg.Summarizer != nil {
		p.Refuse("PromptTemplate", cfg.PromptTemplate, "it has no effect with Summarizer: set it on the summarizer instead")
	}
	if cfg.PromptTemplate != "" && !strings.Contains(cfg.PromptTemplate, templatePlaceholder) {
		p.Refuse("PromptTemplate", cfg.PromptTemplate, "it lacks %s: the summarizer would never see the conversation", templatePlaceholder)
	}
	switch {
	case cfg.Pack == "":
	case cfg.Summarizer != nil:
		p.Refuse("Pack", cfg.Pack, "it has no effect with Summarizer: set it on the summarizer instead")
	case cfg.PromptTemplate != "":
		p.Refuse("Pack", cfg.Pack, "it has no effect with PromptTemplate: set one of them")
	case !cfg.Pack.Known():
		p.Refuse("Pack", cfg.Pack, "it is unknown: use %s, %s, %s or %s", summarizer.PackDefault, summarizer.PackHandover, summarizer.PackIntent, summarizer.PackCheckpoint)
	}
	return p
}

// fillDefaults gives zero numbers their defaults, and then turns Off into 0.
func (p *policy) fillDefaults() {
	for _, field := range []struct {
		value    *int
		fallback int
	}{
		{&p.OverlapSize, defaultOverlapSize},
		{&p.RetainEvents, defaultRetainEvents},
		{&p.MaxSummaries, defaultMaxSummaries},
		{&p.MaxSummaryTokens, defaultMaxSummaryTokens},
		{&p.MaxLedgerTokens, defaultMaxLedgerTokens},
		{&p.CheckpointTokens, defaultCheckpointTokens},
	} {
		if *field.value == 0 {
			*field.value = field.fallback
		}
	}
	if p.Timeout == 0 {
		p.Timeout = defaultTimeout
	}
	p.byPrice = p.InvocationThreshold == 0
	if p.BlockRatio == 0 {
		p.BlockRatio = defaultBlockRatio
	}
	switch {
	case p.SafetyRatio != 0:
	case p.byPrice:
		p.SafetyRatio = min(defaultBound, defaultBoundShare*p.BlockRatio)
	default:
		p.SafetyRatio = defaultSafetyRatio
	}
	if p.TokenThreshold == Off {
		p.SafetyRatio = Off
	}
	p.InvocationThreshold = max(0, p.InvocationThreshold)
	p.TokenThreshold = max(0, p.TokenThreshold)
	p.CheckpointTokens = max(0, p.CheckpointTokens)
	p.MaxLedgerTokens = max(0, p.MaxLedgerTokens)
	p.SafetyRatio = max(0, p.SafetyRatio)
}

// agentModel is the name of the agent's model as far as it is known from the start.
func (p *policy) agentModel() string {
	if p.AgentModel == "" && p.AgentModelFunc == nil && p.Model != nil {
		return p.Model.Name()
	}
	return p.AgentModel
}

// summaryModel is the name of the model that writes summaries, "" if it is the agent's own, or not known.
func (p *policy) summaryModel() string {
	if named, ok := p.Summarizer.(interface{ ModelName() string }); ok {
		return named.ModelName()
	}
	if p.Summarizer == nil && p.Model != nil {
		return p.Model.Name()
	}
	return ""
}

// isFree reports whether a summarizer calls no model.
func isFree(s Summarizer) bool {
	switch s.(type) {
	case summarizer.Extractive, *summarizer.Extractive:
		return true
	}
	return false
}

// checkTokens refuses values that could never take effect. If the model may change, it refuses only
// values that are wrong for every model.
func (p *policy) checkTokens() (problems configerr.Problems) {
	l := p.limits
	switch share := p.sizes.Share(l.Effective()); {
	case p.SafetyRatio >= p.BlockRatio:
		problems.Refuse("SafetyRatio", p.SafetyRatio,
			"the token trigger must fire before the hard limit, which is BlockRatio %v of the effective window; lower it, raise BlockRatio, or set SafetyRatio to Off", p.BlockRatio)
	case p.sizes.WindowIsFixed() && p.MaxOutputTokens >= l.ContextWindow:
		problems.Refuse("MaxOutputTokens", p.MaxOutputTokens,
			"with a ContextWindow of %d, nothing would be left for the prompt; lower it or set ContextWindow", l.ContextWindow)
	case l.HardLimit < 1:
		problems.Refuse("ContextWindow", l.ContextWindow,
			"with MaxOutputTokens %d, the hard limit of BlockRatio %v of the rest is no prompt at all; raise ContextWindow or lower MaxOutputTokens", l.Reply, p.BlockRatio)
	case p.sizes.WindowIsFixed() && share > 0 && p.TokenThreshold > share:
		problems.Refuse("TokenThreshold", p.TokenThreshold,
			"it would never be reached: SafetyRatio %v × (ContextWindow %d - MaxOutputTokens %d) = %d is less and fires first; lower it, set SafetyRatio to Off, or set ContextWindow",
			p.SafetyRatio, l.ContextWindow, l.Reply, share)
	case p.sizes.WindowIsFixed() && p.TokenThreshold > l.HardLimit:
		problems.Refuse("TokenThreshold", p.TokenThreshold,
			"it would never be reached: a prompt is compacted at the hard limit of %d tokens (BlockRatio %v of ContextWindow %d less MaxOutputTokens %d) at the latest; lower it or set ContextWindow",
			l.HardLimit, p.BlockRatio, l.ContextWindow, l.Reply)
	}
	return problems
}

// windowShare is the share of a context window that a transcript may fill if the summarizer has no
// limit of its own. The rest is for the prompt, the answer, and the error of the estimate.
const windowShare = 0.5

// setSummarizer makes the summarizer and finds out how much it can read in one call.
func (p *policy) setSummarizer() error {
	p.summarizer = p.Summarizer
	if p.summarizer == nil {
		cfg := summarizer.LLMConfig{Model: p.Model, Template: p.PromptTemplate, Pack: p.Pack, Registry: p.Registry}
		if _, known := p.Registry.Window(p.Model.Name()); !known && p.AgentModel == "" && p.AgentModelFunc == nil {
			cfg.ContextWindow = p.limits.ContextWindow // it is the agent's own model
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
