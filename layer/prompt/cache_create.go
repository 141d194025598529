package prompt

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"

	"github.com/adk-go-ext/longsession/internal/promptsize"
)

// beginCreating creates the cache of a key in the background. cfg is a snapshot, because its owner goes on
// with the turn meanwhile. The caller holds s.mu.
func (s *cacheStore) beginCreating(e *cacheEntry, client CacheClient, cfg *genai.CreateCachedContentConfig) {
	var (
		estimate int
		asked    time.Time
		made     *genai.CachedContent
	)
	call := func(ctx context.Context) (err error) {
		estimate = estimateOf(cfg)
		if s.isTooSmall(e, estimate) {
			return nil
		}
		asked = time.Now()
		made, err = client.Create(ctx, e.model, cfg)
		if err == nil && (made == nil || made.Name == "") {
			err = errNoName
		}
		return err
	}
	e.busy = s.begin(e.model, call, func(err error) {
		switch {
		case err != nil:
			s.notCreated(e, estimate, err)
		case made == nil:
			s.mu.Lock()
			s.endCreating(e)
			s.mu.Unlock()
		default:
			s.created(e, client, made, estimate, asked)
		}
	})
	if e.busy {
		s.creating++
	}
}

// endCreating notes that the cache of an entry is not being created anymore. The caller holds s.mu.
func (s *cacheStore) endCreating(e *cacheEntry) {
	e.busy = false
	s.creating--
}

// snapshotOf copies what a cache of cfg holds: instruction, tools and tool config. Schemas are shared; see
// schemaDigests.
func snapshotOf(cfg *genai.GenerateContentConfig, key cacheKey, ttl time.Duration) *genai.CreateCachedContentConfig {
	made := &genai.CreateCachedContentConfig{
		TTL: ttl, DisplayName: "longsession-" + hex.EncodeToString(key.sum[:8]),
		SystemInstruction: copied(cfg.SystemInstruction), ToolConfig: copied(cfg.ToolConfig),
	}
	if c := made.SystemInstruction; c != nil {
		c.Parts = copiedAll(c.Parts)
	}
	made.Tools = copiedAll(cfg.Tools)
	for _, t := range made.Tools {
		if t != nil {
			t.FunctionDeclarations = copiedAll(t.FunctionDeclarations)
		}
	}
	if t := made.ToolConfig; t != nil {
		t.FunctionCallingConfig = copied(t.FunctionCallingConfig)
		if f := t.FunctionCallingConfig; f != nil {
			f.AllowedFunctionNames = slices.Clone(f.AllowedFunctionNames)
		}
	}
	return made
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func copiedAll[T any](list []*T) []*T {
	if list == nil {
		return nil
	}
	out := make([]*T, len(list))
	for i, p := range list {
		out[i] = copied(p)
	}
	return out
}

func estimateOf(cfg *genai.CreateCachedContentConfig) int {
	_, fixed := promptsize.OfRequest(&model.LLMRequest{Config: &genai.GenerateContentConfig{SystemInstruction: cfg.SystemInstruction, Tools: cfg.Tools}})
	return fixed
}

// isTooSmall reports whether a cache need not be asked for, and notes it.
func (s *cacheStore) isTooSmall(e *cacheEntry, estimate int) bool {
	s.mu.Lock()
	minimum := s.minimums.of(e.model)
	if e.small = estimate < minimum; e.small {
		s.stats.Small++
	}
	s.mu.Unlock()
	if e.small {
		s.report(CacheObservation{Kind: CacheTooSmall, Model: e.model, Tokens: estimate, Reason: fmt.Sprintf("estimated at %d tokens, and the minimum is %d", estimate, minimum)})
	}
	return e.small
}

// notCreated notes that the provider has no cache for an entry. A refusal for its size teaches the minimum,
// in terms of our estimates.
func (s *cacheStore) notCreated(e *cacheEntry, estimate int, err error) {
	total, minimum, small := refusesSize(err)
	s.mu.Lock()
	s.endCreating(e)
	if !small {
		e.banned = time.Now().Add(cacheBan)
		s.mu.Unlock()
		s.failed(e.model, "", err)
		return
	}
	e.small = true
	s.stats.Refused++
	learned := s.minimums.learn(e.model, estimate, total, minimum)
	s.mu.Unlock()
	s.report(CacheObservation{Kind: CacheTooSmall, Model: e.model, Tokens: estimate, Err: err, Reason: fmt.Sprintf("the provider refuses it; from now on the minimum is an estimate of %d tokens", learned)})
}

// created puts a new cache into use. Its life is counted from before it was asked for, by this machine's
// clock.
func (s *cacheStore) created(e *cacheEntry, client CacheClient, made *genai.CachedContent, estimate int, asked time.Time) {
	price, _ := s.cfg.Registry.Lookup(e.model)
	h := &cacheHandle{name: made.Name, client: client, tokens: estimate, price: price, created: asked}
	if m := made.UsageMetadata; m != nil && m.TotalTokenCount > 0 {
		h.tokens = int(m.TotalTokenCount)
	}
	h.lives(asked, granted(made.CreateTime, made.ExpireTime, s.cfg.TTL))
	s.mu.Lock()
	s.endCreating(e)
	s.stats.Created++
	s.stats.add(h.writing())
	e.handle = h
	s.live++
	unwanted := s.closed || e.gone
	if unwanted {
		h = s.detach(e, time.Now())
	}
	s.mu.Unlock()
	s.report(CacheObservation{Kind: CacheCreated, Model: e.model, Name: h.name, Tokens: h.tokens})
	if unwanted {
		s.deleteLate(e.model, h)
	}
}

// deleteLate deletes a cache that was created too late to be used. The context of jobs may have ended.
func (s *cacheStore) deleteLate(model string, h *cacheHandle) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.jobs.ctx), cacheCallTimeout)
	defer cancel()
	err := errJobEnded
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
		s.deleted(model, h, err)
	}()
	_, err = h.client.Delete(ctx, h.name, nil)
}
