package prompt

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/adk-go-ext/longsession/tokens"
)

// cacheEntry is what is known about one key. cacheStore.mu guards its fields.
type cacheEntry struct {
	key   cacheKey
	model string

	seen     int // requests in a row, each within the TTL of the one before
	needs    int // how many it takes until a cache is created, if more than usual
	lastSeen time.Time
	busy     bool      // a cache is being created or prolonged
	small    bool      // no cache is created, because it would be too small
	banned   time.Time // until when no cache is created
	gone     bool      // not among the entries anymore
	handle   *cacheHandle
}

// cacheHandle is a cache that exists at the provider.
type cacheHandle struct {
	name    string
	client  CacheClient
	tokens  int // the provider's count, or the estimate if it gave none
	price   tokens.Model
	created time.Time
	expires time.Time
	prolong time.Time // from when on a use prolongs it
	users   int       // requests that are using it
	uses    int       // requests that were answered with it
	saved   float64   // by those, in USD
	out     time.Time // when it was taken out of use
}

// cacheStore has the keys that were seen and the caches that exist. It is safe for concurrent use.
type cacheStore struct {
	cfg  CacheConfig
	jobs *cacheJobs
	cacheReports

	mu       sync.Mutex
	entries  *simplelru.LRU[cacheKey, *cacheEntry]
	live     int                     // entries with a handle
	creating int                     // entries whose cache is being created
	doomed   map[*cacheHandle]string // caches that wait to be deleted, with their models
	minimums cacheMinimums
	stripped map[string]bool // models for which that was reported
	closed   bool
	stats    CacheStats
}

func newCacheStore(cfg CacheConfig) *cacheStore {
	s := &cacheStore{
		cfg: cfg, jobs: newCacheJobs(), cacheReports: cacheReports{observer: cfg.Observer}, doomed: map[*cacheHandle]string{},
		minimums: cacheMinimums{initial: cfg.MinTokens, learned: map[string]int{}}, stripped: map[string]bool{},
	}
	// It fails only for a size that is not positive.
	s.entries, _ = simplelru.NewLRU(maxCacheKeys, func(_ cacheKey, e *cacheEntry) { s.evicted(e) })
	return s
}

// lease is the right to use a cache for one request.
type lease struct {
	entry  *cacheEntry
	handle *cacheHandle
}

// acquire notes that a key was seen, and returns its cache if it has one that can be used. If a cache should
// be created, build is called to begin that. The caller holds no lock.
func (s *cacheStore) acquire(key cacheKey, model string, build func(e *cacheEntry)) (lease, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return lease{}, false
	}
	now := time.Now()
	s.stats.Requests++
	e, known := s.entries.Get(key)
	if !known {
		e = &cacheEntry{key: key, model: model}
		s.entries.Add(key, e)
		s.stats.Keys++
	}
	if now.Sub(e.lastSeen) > s.cfg.TTL {
		e.seen = 0
	}
	e.seen, e.lastSeen = e.seen+1, now
	if h := e.handle; h != nil {
		if now.Before(h.expires.Add(-s.cfg.margin())) {
			h.users++
			if !now.Before(h.prolong) && !e.busy {
				s.beginProlonging(e, h)
			}
			return lease{e, h}, true
		}
		s.expire(e)
	}
	if e.seen >= max(s.cfg.AfterSightings, e.needs) && !e.busy && !e.small && !now.Before(e.banned) && s.hasRoom(now) {
		build(e)
	}
	return lease{}, false
}

// hasRoom reports whether one more cache may be created. If there are too many, it takes away the one that
// was not used for longest, unless that was used within half a TTL: creating caches by turns would cost more than it
// saves. The caller holds s.mu.
func (s *cacheStore) hasRoom(now time.Time) bool {
	if s.live+s.creating < maxCaches {
		return true
	}
	s.sweep(now)
	if s.live+s.creating < maxCaches {
		return true
	}
	for _, e := range s.entries.Values() { // oldest first
		if e.handle == nil {
			continue
		}
		if now.Sub(e.lastSeen) < s.cfg.TTL/2 {
			break
		}
		s.drop(e)
		return true
	}
	s.stats.Full++
	return false
}

// release ends the use of a cache.
func (s *cacheStore) release(l lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.handle.users--
	if model, doomed := s.doomed[l.handle]; doomed {
		s.beginDeleting(model, l.handle)
	}
}

// ban takes the cache of a lease out of use, and keeps its key from having another for a while.
func (s *cacheStore) ban(l lease, cause error) {
	s.mu.Lock()
	s.stats.Banned++
	if l.entry.handle == l.handle { // else it is out of use already
		l.entry.banned = time.Now().Add(cacheBan)
		s.drop(l.entry)
	}
	s.mu.Unlock()
	s.report(CacheObservation{Kind: CacheBanned, Model: l.entry.model, Name: l.handle.name, Tokens: l.handle.tokens, Err: cause})
}

// drop has the cache of an entry deleted when its last user is done. The caller holds s.mu.
func (s *cacheStore) drop(e *cacheEntry) {
	h := s.detach(e, time.Now())
	s.doomed[h] = e.model
	s.beginDeleting(e.model, h)
}

// detach takes the cache of an entry out of use, and counts what it has cost. The caller holds s.mu.
func (s *cacheStore) detach(e *cacheEntry, until time.Time) *cacheHandle {
	h := e.handle
	e.handle, h.out = nil, until
	s.live--
	s.stats.add(h.stored(until))
	return h
}

// expire forgets a cache that is near its end or behind it. If it did not pay, the next one takes twice as
// many sightings: an agent that sends a few requests each hour would otherwise pay for a cache each time. The
// caller holds s.mu.
func (s *cacheStore) expire(e *cacheEntry) {
	h := s.detach(e, e.handle.expires) // it exists until then
	if h.paid() {
		e.needs = 0
	} else {
		e.needs = min(2*max(s.cfg.AfterSightings, e.needs), max(s.cfg.AfterSightings, maxSightings))
	}
	s.stats.Expired++
	s.report(CacheObservation{Kind: CacheExpired, Model: e.model, Name: h.name, Tokens: h.tokens})
}

// sweep forgets all caches that are behind their end, also those that still wait to be deleted. The caller
// holds s.mu.
func (s *cacheStore) sweep(now time.Time) {
	for _, e := range s.entries.Values() {
		if e.handle != nil && !now.Before(e.handle.expires) {
			s.expire(e)
		}
	}
	for h := range s.doomed {
		if !now.Before(h.expires) {
			s.kept(h)
		}
	}
}

// evicted is called for an entry that is forgotten. The caller holds s.mu.
func (s *cacheStore) evicted(e *cacheEntry) {
	e.gone = true
	if e.handle != nil {
		s.drop(e)
	}
}
