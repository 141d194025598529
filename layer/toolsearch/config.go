package toolsearch

import (
	"cmp"
	"context"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/internal/outbox"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/window"
	"github.com/adk-go-ext/longsession/tokens"
)

// Off turns a number of [Config] off.
const Off = -1

// Mode is how the model calls a tool that it has found.
type Mode string

// The modes. The zero value means Bridge.
const (
	// Bridge has the model call found tools through tool_call. The declarations of an agent stay the same
	// whatever is found, so a search costs nothing of the cached prefix.
	Bridge Mode = "bridge"
	// Promote declares found tools from the next request on, behind all others, until the next summary. The
	// model then calls them as it calls any tool, with arguments that the provider holds to the schema.
	// Each promotion breaks the cached prefix at its head.
	Promote Mode = "promote"
)

// Config says when tools are deferred, and which. The zero value is the defaults, and works for every
// model.
type Config struct {
	// Threshold is the share of the effective window that tool declarations may take up. Over it, tools are
	// deferred in steps until the rest is within it. The first step is all MCP tools without a known use. The
	// effective window is the context window less what is reserved for the reply. 0 means 0.10. With Off
	// nothing is ever deferred.
	Threshold float64
	// Mode is how found tools are called. "" means Bridge.
	Mode Mode
	// Keep names tools that are never deferred.
	Keep []string
	// MaxHits is how many tools one search returns at most. 0 means 5.
	MaxHits int
	// MaxNamesTokens bounds the list of the names of deferred tools in the description of tool_search, in
	// estimated tokens: a model that sees no names rarely searches. 0 means 1,500. With Off no names are
	// listed.
	MaxNamesTokens int
	// Registry has the windows and output limits of models. If nil, the built-in table of package tokens
	// is used.
	Registry *tokens.Registry
	// ContextWindow is the context window of the model, in tokens. 0 means the window that Registry has for
	// the request's model, or 128,000 if it has none.
	ContextWindow int
	// MaxOutputTokens is reserved for the reply, in tokens, if the request does not set a limit of its own
	// (GenerateContentConfig.MaxOutputTokens). 0 means the longest reply of the model in Registry, or
	// 8,192 if it has none, but at most a tenth of the window. Off reserves only what a request asks for.
	MaxOutputTokens int
	// Category returns the category of a tool, "" if it does not know. It must return the same for the same
	// tool every time, quickly, and be safe for concurrent use. A tool over whose category it panics is
	// not deferred. If nil, or for "", [Categorized] tools have their own category, and those of ADK's
	// mcptoolset and skilltoolset are recognized.
	Category func(tool.Tool) Category
	// Observer hears when the set of deferred tools of an agent changes, of searches, and of failures. If
	// nil, nothing is reported.
	Observer func(ctx context.Context, o Observation)
}

// ConfigError is one refused value: Field names it as [Config] does, Value is as it was given, and Reason says
// what is wrong with it, and what to do. Several are joined: errors.As finds the first. All packages of this
// module have the same type.
type ConfigError = configerr.Error

// The defaults of [Config].
const (
	defaultThreshold      = 0.10
	defaultMaxHits        = 5
	defaultMaxNamesTokens = 1_500
)

// check returns the joined problems of a config.
func (c *Config) check() error {
	var p configerr.Problems
	if !(c.Threshold == Off || c.Threshold >= 0 && c.Threshold <= 1) {
		p.Refuse("Threshold", c.Threshold, "use a share of the effective window from 0 to 1, 0 for %v, or Off (%d)", defaultThreshold, Off)
	}
	if c.Mode != "" && c.Mode != Bridge && c.Mode != Promote {
		p.Refuse("Mode", c.Mode, "there are %s and %s", Bridge, Promote)
	}
	if slices.Contains(c.Keep, "") {
		p.Refuse("Keep", "", "name a tool, as the model calls it")
	}
	if c.MaxHits < 0 {
		p.Refuse("MaxHits", c.MaxHits, "it must not be negative; 0 is %d, and Threshold: Off turns tool search off", defaultMaxHits)
	}
	if c.MaxNamesTokens < Off {
		p.Refuse("MaxNamesTokens", c.MaxNamesTokens, "it must not be negative; 0 is %d, and Off (%d) lists no names", defaultMaxNamesTokens, Off)
	}
	if c.ContextWindow < 0 {
		p.Refuse("ContextWindow", c.ContextWindow, "it must not be negative; 0 is the window of the request's model")
	}
	if c.MaxOutputTokens < Off {
		p.Refuse("MaxOutputTokens", c.MaxOutputTokens, "it must not be negative; Off (%d) reserves only what a request asks for", Off)
	}
	if c.ContextWindow > 0 && c.MaxOutputTokens > c.ContextWindow/2 {
		p.Refuse("MaxOutputTokens", c.MaxOutputTokens, "it is more than half of ContextWindow %d, and too little would be left for the prompt; lower it", c.ContextWindow)
	}
	return p.Join("toolsearch config")
}

// Deferral takes declarations out of requests. It is safe for concurrent use, serves any number of models
// and agents, and holds no resources that must be closed.
type Deferral struct {
	cfg     Config
	ours    ourTools
	windows *window.Table
	selects owner // of the wrappers

	searches *lru.Cache[searchKey, *searchTool]
	reported *lru.Cache[callerKey, uint64]
	named    *lru.Cache[agentKey, struct{}]      // agents with a tool of the app's under one of our names
	wrapped  *lru.Cache[agentKey, struct{}]      // agents whose model is
	runs     *lru.Cache[string, session.Session] // by invocation
	outbox   outbox.Observations[Observation]
	places   survive.Places
}

// New returns a Deferral. It copies the config. The error joins a [*ConfigError] for every value that is
// refused.
func New(cfg Config) (*Deferral, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Keep = slices.Clone(cfg.Keep)
	cfg.Threshold = cmp.Or(cfg.Threshold, defaultThreshold)
	cfg.Mode = cmp.Or(cfg.Mode, Bridge)
	cfg.MaxHits = cmp.Or(cfg.MaxHits, defaultMaxHits)
	cfg.MaxNamesTokens = cmp.Or(cfg.MaxNamesTokens, defaultMaxNamesTokens)
	d := &Deferral{
		cfg: cfg, ours: newOurTools(&cfg),
		windows:  window.New(window.Config{Registry: cfg.Registry, ContextWindow: cfg.ContextWindow, MaxOutputTokens: cfg.MaxOutputTokens}),
		searches: newCache[searchKey, *searchTool](maxSearches), reported: newCache[callerKey, uint64](maxCallers),
		named: newCache[agentKey, struct{}](maxAgents), wrapped: newCache[agentKey, struct{}](maxAgents),
		runs: newCache[string, session.Session](maxRuns),
	}
	d.places.Tell = func(place string, err error) {
		d.observe(context.Background(), Observation{Kind: Failed, Reason: place, Err: err})
	}
	return d, nil
}

// newCache returns a cache. lru.New fails only for a size that is not positive.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	cache, _ := lru.New[K, V](size)
	return cache
}
