package prompt

import (
	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/internal/wrapper"
)

// Cache keeps system instructions and tool declarations at Gemini, in explicit caches: a request then names
// the cache instead of repeating them, and the provider bills what it reads from there at the price of cached
// input, about a tenth of the usual one. It also bills the storage, by the hour.
//
// # When it pays
//
// Gemini 2.5 and later cache prompts by themselves, at the same discount and without storage (implicit
// caching), but promise no hits. An explicit cache earns only what implicit caching misses. With the input
// price I, the cached price C, the storage price S per hour, and the share h of the instruction and tools that
// implicit caching already reads from a cache, it pays from
//
//	S / ((I - C) * (1 - h))
//
// requests per hour on (see [CacheBreakEven]), once I / ((I - C) * (1 - h)) requests have paid for its
// creation, which is billed as input. The size of the prompt cancels out. For Gemini 2.5 Pro that is 4
// requests per hour if nothing is cached implicitly, and 40 if nine tenths are. So look at the cached tokens
// in the usage of your requests first, and turn this on only if few are cached: for example where many users
// share one long instruction, but each speaks only every few minutes. Leave it off for single long tool loops, whose requests follow each other
// within seconds, and for instructions that change with each request.
//
// # Rules
//
// A cache is created in the background when the same model, instruction, tools and tool config were seen
// [CacheConfig.AfterSightings] times, each within [CacheConfig.TTL] of the one before, and are large enough.
// Rarer requests would pay more for storage than they save. It is prolonged when it is used in the second
// half of its life, never otherwise, so a cache that nobody needs expires. At most 32 caches exist at a time. [Cache.Close]
// deletes them.
//
// Each process has caches of its own. Sharing them would save the storage of all but one, but the first
// process to end would delete the cache of the others, or leave it to be billed until it expires. With n
// processes, each must get the requests per hour above.
//
// Live runs have no part in this.
//
// A nil Cache, and one that is not enabled or is closed, changes no request. Cache is safe for concurrent use.
type Cache struct {
	cfg     CacheConfig
	digests *schemaDigests
	store   *cacheStore
}

// NewCache returns a Cache. The error joins a [*ConfigError] for every value that is refused.
func NewCache(cfg CacheConfig) (*Cache, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Cache{cfg: cfg, digests: newSchemaDigests(), store: newCacheStore(cfg)}, nil
}

// Model wraps llm so that its requests use caches. Give it the provider's model itself: every other wrapper must
// be around the result, because nothing can read instruction and tools once they are replaced by the name of a cache.
//
// A request with a cache has Config.CachedContent set, and no SystemInstruction, Tools and ToolConfig, which
// the provider refuses next to it. All else is as it was, and req itself is not changed: its Tools still run.
// If the provider refuses the cache before the first response, because it has expired or was deleted for
// example, the same request is sent once more without it. All other errors pass unchanged.
//
// If the app has set CachedContent itself, no cache of ours is used. The instruction, tools and tool config
// that ADK has put next to it are left out, since each such request would be refused: the app's cache must have them. This is
// reported once for each model.
//
// If llm has no Client method that returns a client of Gemini or Vertex AI, and [CacheConfig.Client] is nil,
// Model returns llm itself, and reports that once. So it does if caching is not enabled, or if llm is a
// wrapper of this Cache already.
func (c *Cache) Model(llm model.LLM) model.LLM {
	if c == nil || !c.cfg.Enabled || !adk.IsNil(llm) && wrapper.Wraps(llm, c) {
		return llm
	}
	w := &cachedModel{cache: c, inner: llm}
	if !adk.IsNil(llm) {
		if w.client, w.id = c.clientOf(llm); w.client == nil {
			c.store.report(CacheObservation{Kind: CacheUnsupported, Model: llm.Name(), Reason: "the model has no client for caches"})
			return llm
		}
	}
	return wrapper.New(llm, c, "prompt", w.generate)
}

// clientOf returns the client for the caches of a model, and what tells its caches from those of other
// clients.
func (c *Cache) clientOf(llm model.LLM) (client CacheClient, id any) {
	if c.cfg.Client != nil {
		return c.cfg.Client, nil
	}
	defer survive.Else("prompt: the client of a model", func() { client, id = nil, nil })
	google, ok := llm.(interface{ Client() *genai.Client })
	if !ok {
		return nil, nil
	}
	of := google.Client()
	if of == nil || of.Caches == nil {
		return nil, nil
	}
	return of.Caches, of
}
