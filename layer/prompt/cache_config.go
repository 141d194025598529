package prompt

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/tokens"
)

// CacheConfig says whether and when prompts are cached explicitly. The zero value caches nothing.
type CacheConfig struct {
	// Enabled turns explicit caching on. It costs money by the hour: see [Cache].
	Enabled bool
	// TTL is how long a cache lives when nobody uses it, from a minute to a day. It also is the longest
	// pause between two requests that still count as sightings. 0 means 10 minutes.
	TTL time.Duration
	// MinTokens is the smallest estimate of instruction and tools, in tokens, for which a cache is created.
	// When a provider refuses a cache as too small, its own minimum counts for that model from then on.
	// 0 means 4,096, which Gemini 2.5 Pro and Gemini 3 Pro ask for; the Flash models ask for 1,024 or
	// 2,048, depending on the service.
	MinTokens int
	// AfterSightings is how many requests must have the same instruction and tools before a cache is
	// created. 0 means 2; with 1, requests that never repeat pay for a cache each. After a cache that has
	// cost more than it saved, it takes twice as many, up to 64.
	AfterSightings int
	// Client creates, prolongs and deletes the caches. If nil, it is that of the model: see [Cache.Model].
	Client CacheClient
	// Registry has the prices of models. If nil, the built-in table of package tokens is used.
	Registry *tokens.Registry
	// Observer hears of caches. If nil, nothing is reported.
	Observer CacheObserver
}

// CacheClient creates, prolongs and deletes caches, as [*genai.Caches] does. It must be safe for concurrent
// use. A call that fails, panics or hangs costs no turn: the requests are sent without a cache. Calls have a
// context that ends after 30 seconds.
type CacheClient interface {
	Create(ctx context.Context, model string, config *genai.CreateCachedContentConfig) (*genai.CachedContent, error)
	Update(ctx context.Context, name string, config *genai.UpdateCachedContentConfig) (*genai.CachedContent, error)
	Delete(ctx context.Context, name string, config *genai.DeleteCachedContentConfig) (*genai.DeleteCachedContentResponse, error)
}

var _ CacheClient = (*genai.Caches)(nil)

const (
	defaultCacheTTL = 10 * time.Minute
	// minCacheTTL is the shortest life that Vertex AI gives a cache.
	minCacheTTL = time.Minute
	// maxCacheTTL bounds what a cache costs after its process was killed.
	maxCacheTTL = 24 * time.Hour
	// defaultMinTokens is the largest minimum of all models:
	// https://ai.google.dev/gemini-api/docs/caching.
	defaultMinTokens = 4_096
	// defaultSightings is the first number that shows a repetition.
	defaultSightings = 2
	// maxSightings bounds how many sightings it takes after caches that did not pay.
	maxSightings = 64

	// maxCaches is how many caches a process has at a time: more agents than most apps have.
	maxCaches = 32
	// maxCacheKeys is how many instructions with their tools are remembered.
	maxCacheKeys = 256
	// maxCacheJobs is how many calls of a client run at a time, so that one that hangs harms little.
	maxCacheJobs = 8
	// cacheCallTimeout bounds one call of a client.
	cacheCallTimeout = 30 * time.Second
	// cacheBan is how long a key has no cache after the provider has refused one, or its creation has failed.
	cacheBan = 10 * time.Minute
	// maxCacheMargin is how long before its end a cache is not used anymore, at most a tenth of its life.
	maxCacheMargin = 30 * time.Second
	// cacheCloseTimeout bounds Close if its context has no deadline.
	cacheCloseTimeout = 10 * time.Second
)

func (cfg CacheConfig) withDefaults() CacheConfig {
	cfg.TTL = cmp.Or(cfg.TTL, defaultCacheTTL)
	cfg.MinTokens = cmp.Or(cfg.MinTokens, defaultMinTokens)
	cfg.AfterSightings = cmp.Or(cfg.AfterSightings, defaultSightings)
	return cfg
}

// margin is how long before its end a cache is not used anymore.
func (cfg *CacheConfig) margin() time.Duration { return min(cfg.TTL/10, maxCacheMargin) }

// check returns the joined problems of a config.
func (cfg *CacheConfig) check() error {
	var p configerr.Problems
	if cfg.TTL != 0 && (cfg.TTL < minCacheTTL || cfg.TTL > maxCacheTTL) {
		p.Refuse("TTL", cfg.TTL, "it must be from %v to %v; 0 is %v", minCacheTTL, maxCacheTTL, defaultCacheTTL)
	}
	if cfg.MinTokens < 0 {
		p.Refuse("MinTokens", cfg.MinTokens, "it must not be negative; 0 is %d", defaultMinTokens)
	}
	if cfg.AfterSightings < 0 {
		p.Refuse("AfterSightings", cfg.AfterSightings, "it must not be negative; 0 is %d, and Enabled turns caching off", defaultSightings)
	}
	p.RefuseNilIn("Client", cfg.Client)
	p.RefuseNilIn("Observer", cfg.Observer)
	return p.Join("prompt cache config")
}
