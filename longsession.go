package longsession

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/layer/prompt"
	"github.com/adk-go-ext/longsession/layer/recall"
	"github.com/adk-go-ext/longsession/layer/toolresult"
	"github.com/adk-go-ext/longsession/layer/toolsearch"
	"github.com/adk-go-ext/longsession/tokens"
)

// memoryBytes bounds the results that only agents as tools have, if Config.Results is nil. 64 MiB are some
// thousand results, and those of finished runs are dropped.
const memoryBytes = 64 << 20

// Stack is every layer of the module over one session service. It is safe for concurrent use, and one
// stack serves any number of agents and runners.
type Stack struct {
	// Sessions is the session service for runners, launchers and all other code that would use the
	// inner one.
	Sessions *compaction.CompactionSessionService
	// Guard knows what sessions spend, and lets a stopped one go on: see [guard.Guard.Usage] and
	// [guard.Guard.Reset]. It is nil if LayerGuard is disabled.
	Guard *guard.Guard
	// Recall searches the raw history of sessions. It is nil unless Config.Recall is enabled.
	Recall *recall.Recaller

	cutter  *toolresult.Cutter   // nil without LayerToolResults
	results sources              // none without LayerToolResults
	meter   *budget.Meter        // nil without any layer that needs it
	prompt  *prompt.Builder      // nil without LayerPrompt
	search  *toolsearch.Deferral // nil without LayerToolSearch
	cache   *prompt.Cache        // nil unless Config.Cache is enabled
	// registry has the prices for subtasks; nil is the built-in table.
	registry *tokens.Registry
	// tools are what the layers offer to agents: read_result, the context tools and those of recall, as far
	// as they are on.
	tools []tool.Tool
	// before and behind are the plugins around the app's own.
	before, behind []*plugin.Plugin
	// offered is true once an app was given a way by which its agents can read whole results.
	offered atomic.Bool
	places  survive.Places
}

// New puts the layers over inner. It returns an error if the config contradicts itself, or if inner
// is nil or already has a layer of this module; it then starts nothing. The error joins every problem:
// [*ConfigError] for contradictions between layers, and for a layer's own settings that layer's typed
// error, such as [compaction.ConfigError].
func New(inner session.Service, cfg Config) (*Stack, error) {
	if cfg.Model != nil && adk.IsNil(cfg.Model) {
		return nil, fmt.Errorf("longsession config: Model holds a nil %T, and every call would panic: set a model or leave the field out", cfg.Model)
	}
	cfg, problems := cfg.resolve()
	b := &builder{Stack: &Stack{registry: cfg.Registry}, inner: inner, cfg: &cfg}
	b.places.Logger = cfg.Compaction.Logger
	if err := errors.Join(problems, b.addLayers()); err != nil {
		// Compaction's own problems belong into the same error. With a problem of ours it is closed at once.
		svc, own := compaction.NewCompactionService(inner, cfg.Compaction)
		if svc != nil {
			own = svc.Close(context.Background())
		}
		return nil, fmt.Errorf("longsession: %w", errors.Join(err, own, b.closeLayers(context.Background())))
	}
	svc, err := compaction.NewCompactionService(inner, cfg.Compaction)
	if err != nil {
		return nil, fmt.Errorf("longsession: %w", err)
	}
	b.Sessions = svc
	b.dropResults()
	return b.Stack, errors.Join(b.addContextTools(), b.addRecall(), b.addPlugins())
}

// PluginConfig returns the plugins of a runner: the app's own in their order, between those of the
// layers. Use it as runner.Config.PluginConfig or launcher.Config.PluginConfig. The package comment says
// which of ours run first, which last, and why.
func (s *Stack) PluginConfig(own ...*plugin.Plugin) runner.PluginConfig {
	s.offer()
	return runner.PluginConfig{Plugins: slices.Concat(s.before, own, s.behind)}
}

// Model wraps llm in the layers that must see every call and every error of the provider. Give the
// result to the agent. Each agent of an app may have a model of its own. With every layer but compaction
// disabled, Model returns llm itself.
func (s *Stack) Model(llm model.LLM) model.LLM {
	s.offer()
	return s.wrap(llm)
}

// Ahead returns an instruction provider for agents whose model is that of [Stack.Model]. Over Block, it
// compacts the session before a request is built, so that no callback runs a second time; see
// [budget.Meter.Ahead]. Without LayerBudget it returns provider itself.
func (s *Stack) Ahead(provider llmagent.InstructionProvider) llmagent.InstructionProvider {
	if s.meter == nil {
		return provider
	}
	return s.meter.Ahead(provider)
}

// Tools returns the tools that the layers offer, to be appended to an agent's own: read_result, and the tools
// of Config.ContextTools and Config.Recall. Agents that take part in live runs need them, and agents of a
// runner without the plugins need the context tools and those of Recall. For all others, they are put into
// each request. It returns nil if there are none.
func (s *Stack) Tools() []tool.Tool {
	s.offer()
	return slices.Clone(s.tools)
}

// Tracker returns what the budget knows of a session: how much of the window is used, how large a turn is
// on average, at which size it is compacted, and in about how many turns. Without LayerBudget it counts nothing.
func (s *Stack) Tracker(ref compaction.SessionRef) *budget.Tracker {
	if s.meter == nil {
		return &budget.Tracker{}
	}
	return s.meter.Tracker(ref)
}

// CacheStats returns what the explicit caches of Gemini did and cost. It is zero unless Config.Cache is
// enabled.
func (s *Stack) CacheStats() prompt.CacheStats {
	if s.cache == nil {
		return prompt.CacheStats{}
	}
	return s.cache.Stats()
}

// TruncateLog returns a line for each of the results that this process has shortened most recently, oldest
// first. It is nil if the layer of tool results is disabled.
func (s *Stack) TruncateLog() []string {
	if s.cutter == nil {
		return nil
	}
	return s.cutter.TruncateLog()
}

// Close waits for the work of all layers, stores waiting summaries and what they have cost, deletes the
// explicit caches, and waits until observers have received everything. Call it after the last runner has
// returned, and before the inner session service is closed. If ctx ends first, the work is canceled and Close
// returns the context's error. A second Close does nothing.
func (s *Stack) Close(ctx context.Context) error {
	return errors.Join(s.Sessions.Close(ctx), s.saveTotals(ctx), s.closeLayers(ctx))
}

// offer makes the view show shortened results. Before that, no agent could read them whole.
func (s *Stack) offer() { s.offered.Store(true) }
