package prompt

import (
	"time"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/tokens"
)

// CacheStats counts what a [Cache] has done since it was made. Dollars are those of the models with known
// prices.
type CacheStats struct {
	Requests int // that had an instruction or tools, and no CachedContent of the app
	Used     int // of these, answered with a cache
	// Keys is how many of them had an instruction, tools or a model that was not seen before. If it is near
	// Requests, something in the instruction changes all the time, and no cache is ever created.
	Keys int

	Created   int
	Prolonged int
	Expired   int // caches that came to their end
	Deleted   int
	Live      int // caches that exist now

	Small    int // keys below the minimum, for which no cache was asked for
	Refused  int // caches that the provider refused to create as too small
	Banned   int // caches that the provider refused to use or prolong: their keys have none for 10 minutes
	Failed   int // calls of the client that failed otherwise
	Full     int // requests for which a cache was not created because there were too many
	Stripped int // requests whose instruction and tools were left out next to the app's own CachedContent

	// TokensRead is how many tokens of prompts were read from a cache, as the provider counts. With what is
	// cached implicitly behind ours, it can be more than the caches hold.
	TokensRead int
	// TokenHours is how long caches were stored, times their tokens.
	TokenHours float64

	// Saved is what the tokens read from our caches would have cost more as uncached input, in USD. What
	// implicit caching would have saved without them is not taken off: see [Cache].
	Saved float64
	// WriteCost is what creating the caches has cost, at the price of input, in USD. Google's documentation
	// says so for Vertex AI; for the Gemini API it does not mention it.
	WriteCost float64
	// StorageCost is what storing them has cost, in USD.
	StorageCost float64
	// Unpriced is how many caches are of models without the prices for this.
	Unpriced int
}

// Net is what caching has saved, less what it has cost, in USD.
func (s CacheStats) Net() float64 { return s.Saved - s.WriteCost - s.StorageCost }

// add adds costs.
func (s *CacheStats) add(more CacheStats) {
	s.TokenHours += more.TokenHours
	s.WriteCost += more.WriteCost
	s.StorageCost += more.StorageCost
	s.Unpriced += more.Unpriced
}

const perMillion = 1e-6

// stored is what a cache has cost until then.
func (h *cacheHandle) stored(until time.Time) CacheStats {
	if until.After(h.expires) {
		until = h.expires
	}
	hours := float64(h.tokens) * max(0, until.Sub(h.created)).Hours()
	return CacheStats{TokenHours: hours, StorageCost: hours * h.price.CacheStoragePrice * perMillion}
}

// writing is what it has cost to create a cache.
func (h *cacheHandle) writing() CacheStats {
	s := CacheStats{WriteCost: float64(h.tokens) * h.price.InputPrice * perMillion}
	if _, known := CacheBreakEven(h.price, 0); !known {
		s.Unpriced = 1
	}
	return s
}

// used counts a request that was answered with a cache.
func (s *cacheStore) used(l lease, usage *genai.GenerateContentResponseUsageMetadata) {
	read := tokens.UsageOf(usage).CachedTokens
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Used++
	s.stats.TokensRead += read
	h := l.handle
	h.uses++
	if p := h.price; p.CachedInputPrice > 0 {
		saved := float64(min(read, h.tokens)) * (p.InputPrice - p.CachedInputPrice) * perMillion
		h.saved += saved
		s.stats.Saved += saved
	}
}

// paid reports whether a cache has saved more than it cost until its end. Without prices, two uses count as
// that: what they save is more than the creation has cost.
func (h *cacheHandle) paid() bool {
	if _, known := CacheBreakEven(h.price, 0); !known {
		return h.uses >= 2
	}
	return h.saved >= h.writing().WriteCost+h.stored(h.expires).StorageCost
}

// total returns the counts so far.
func (s *cacheStore) total() CacheStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.sweep(now)
	all := s.stats
	all.Live = s.live
	for _, e := range s.entries.Values() {
		if e.handle != nil {
			all.add(e.handle.stored(now))
		}
	}
	return all
}

// Stats returns the counts so far. The storage of caches that exist is counted until now.
func (c *Cache) Stats() CacheStats {
	if c == nil {
		return CacheStats{}
	}
	return c.store.total()
}

// CacheBreakEven returns from how many requests per hour on one explicit cache saves more than its storage costs, if
// implicit caching already reads the share implicit (from 0 to 1) of its tokens from a cache. It reports
// false if a price of the model is unknown. If nothing is left to save, the result is 0, and false.
func CacheBreakEven(m tokens.Model, implicit float64) (requestsPerHour float64, known bool) {
	saved := (m.InputPrice - m.CachedInputPrice) * (1 - min(1, max(0, implicit)))
	if m.CachedInputPrice <= 0 || m.CacheStoragePrice <= 0 || saved <= 0 {
		return 0, false
	}
	return m.CacheStoragePrice / saved, true
}
