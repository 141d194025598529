package prompt

import (
	"context"
	"iter"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/survive"
)

// cachedModel is a model whose requests use caches.
type cachedModel struct {
	cache  *Cache
	inner  model.LLM
	client CacheClient
	id     any // of the client
}

// generate sends a request, with a cache if there is one.
func (w *cachedModel) generate(ctx context.Context, req *model.LLMRequest, stream bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		sent, l, leased := w.prepare(req)
		if !leased {
			w.inner.GenerateContent(ctx, sent, stream)(yield)
			return
		}
		if w.send(ctx, sent, l, stream, yield) {
			w.inner.GenerateContent(ctx, req, stream)(yield)
		}
	}
}

// send sends a request with a cache. It reports true, without having yielded anything, if the request must
// be sent without.
func (w *cachedModel) send(ctx context.Context, req *model.LLMRequest, l lease, stream bool, yield func(*model.LLMResponse, error) bool) (again bool) {
	var usage *genai.GenerateContentResponseUsageMetadata
	answered := false
	defer func() {
		if answered {
			w.cache.store.used(l, usage)
		}
		w.cache.store.release(l)
	}()
	for resp, err := range w.inner.GenerateContent(ctx, req, stream) {
		if err != nil && refusesCache(err, l.handle.name) {
			w.cache.store.ban(l, err)
			if !answered {
				return true
			}
		}
		if err == nil {
			answered = true
		}
		if resp != nil && resp.UsageMetadata != nil {
			usage = resp.UsageMetadata // of a stream, the last one counts all
		}
		if !yield(resp, err) {
			return false
		}
	}
	return false
}

// prepare returns the request as it is to be sent, and the right to use the cache that it names. Nothing
// that goes wrong here may cost the turn.
func (w *cachedModel) prepare(req *model.LLMRequest) (sent *model.LLMRequest, l lease, leased bool) {
	defer survive.Else("prompt: a request with a cache", func() { sent, leased = req, false })
	if req == nil || req.Config == nil {
		return req, lease{}, false
	}
	cfg := req.Config
	if cfg.SystemInstruction == nil && len(cfg.Tools) == 0 && (cfg.CachedContent == "" || cfg.ToolConfig == nil) {
		return req, lease{}, false // nothing to cache, and nothing that is refused next to a cache
	}
	name := req.Model
	if name == "" {
		name = w.inner.Name()
	}
	if cfg.CachedContent != "" {
		if w.cache.strips(name) {
			return withCache(req, cfg.CachedContent), lease{}, false
		}
		return req, lease{}, false
	}
	sum, ok := w.cache.digests.sumOf(name, cfg)
	if !ok {
		return req, lease{}, false
	}
	key := cacheKey{w.id, sum}
	l, leased = w.cache.store.acquire(key, name, func(e *cacheEntry) {
		w.cache.store.beginCreating(e, w.client, snapshotOf(cfg, key, w.cache.cfg.TTL))
	})
	if !leased {
		return req, lease{}, false
	}
	return withCache(req, l.handle.name), l, true
}

// withCache returns a copy of a request that names a cache in place of what the cache holds.
func withCache(req *model.LLMRequest, name string) *model.LLMRequest {
	out, cfg := *req, *req.Config
	cfg.CachedContent, cfg.SystemInstruction, cfg.Tools, cfg.ToolConfig = name, nil, nil, nil
	out.Config = &cfg
	return &out
}

// strips counts a request that names a cache of the app's own, and reports false if the Cache is closed.
func (c *Cache) strips(model string) bool {
	s := c.store
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.stats.Stripped++
	first := !s.stripped[model] && len(s.stripped) < maxCacheKeys
	if first {
		s.stripped[model] = true
	}
	s.mu.Unlock()
	if first {
		s.report(CacheObservation{Kind: CacheStripped, Model: model, Reason: "the app has set CachedContent, next to which no instruction and no tools can be sent"})
	}
	return true
}
