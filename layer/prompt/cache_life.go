package prompt

import (
	"context"
	"time"

	"google.golang.org/genai"
)

// granted is how long a cache lives: what was asked for, or less if the provider says so. Both times are the
// provider's.
func granted(since, until time.Time, asked time.Duration) time.Duration {
	if since.IsZero() || until.IsZero() {
		return asked
	}
	return min(asked, max(0, until.Sub(since)))
}

// lives sets the end of a cache's life, and when a use prolongs it.
func (h *cacheHandle) lives(from time.Time, ttl time.Duration) {
	h.expires = from.Add(ttl)
	h.prolong = from.Add(ttl / 2)
}

// beginProlonging gives a cache a new life in the background. The caller holds s.mu.
func (s *cacheStore) beginProlonging(e *cacheEntry, h *cacheHandle) {
	var (
		asked time.Time
		got   *genai.CachedContent
	)
	e.busy = s.begin(e.model, func(ctx context.Context) (err error) {
		asked = time.Now()
		got, err = h.client.Update(ctx, h.name, &genai.UpdateCachedContentConfig{TTL: s.cfg.TTL})
		return err
	}, func(err error) { s.prolonged(e, h, got, asked, err) })
}

// prolonged notes the outcome of prolonging a cache.
func (s *cacheStore) prolonged(e *cacheEntry, h *cacheHandle, got *genai.CachedContent, asked time.Time, err error) {
	switch {
	case err == nil:
		ttl := s.cfg.TTL
		if got != nil {
			ttl = granted(got.UpdateTime, got.ExpireTime, ttl)
		}
		s.mu.Lock()
		e.busy = false
		if e.handle == h { // else it was dropped meanwhile
			h.lives(asked, ttl)
			s.stats.Prolonged++
		}
		s.mu.Unlock()
		s.report(CacheObservation{Kind: CacheProlonged, Model: e.model, Name: h.name, Tokens: h.tokens})
	case isGone(err), refusesCache(err, h.name):
		s.mu.Lock()
		e.busy = false
		s.mu.Unlock()
		s.ban(lease{e, h}, err)
	default:
		s.mu.Lock()
		e.busy = false
		now := time.Now()
		h.prolong = now.Add(h.expires.Sub(now) / 2)
		s.mu.Unlock()
		s.failed(e.model, h.name, err)
	}
}

// beginDeleting deletes a doomed cache in the background, unless a request is using it. If that is not
// possible now, Close does it. The caller holds s.mu.
func (s *cacheStore) beginDeleting(model string, h *cacheHandle) {
	if h.users > 0 {
		return
	}
	begun := s.begin(model, func(ctx context.Context) error {
		_, err := h.client.Delete(ctx, h.name, nil)
		return err
	}, func(err error) { s.deleted(model, h, err) })
	if begun {
		delete(s.doomed, h)
	}
}

// deleted notes the outcome of deleting a cache. One that does not exist anymore needs no deletion.
func (s *cacheStore) deleted(model string, h *cacheHandle, err error) {
	switch {
	case err == nil:
		s.mu.Lock()
		s.stats.Deleted++
		s.mu.Unlock()
		s.report(CacheObservation{Kind: CacheDeleted, Model: model, Name: h.name, Tokens: h.tokens})
	case !isGone(err):
		s.mu.Lock()
		s.kept(h)
		s.mu.Unlock()
		s.failed(model, h.name, err)
	}
}

// kept counts the storage of a cache that was not deleted, up to its end. The caller holds s.mu.
func (s *cacheStore) kept(h *cacheHandle) {
	delete(s.doomed, h)
	all, counted := h.stored(h.expires), h.stored(h.out)
	s.stats.add(CacheStats{TokenHours: all.TokenHours - counted.TokenHours, StorageCost: all.StorageCost - counted.StorageCost})
}
