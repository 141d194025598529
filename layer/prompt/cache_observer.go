package prompt

import (
	"context"

	"github.com/adk-go-ext/longsession/internal/outbox"
)

// CacheObserver receives observations from a [Cache], one at a time, in the order in which things happened.
// They come from a goroutine of its own, a little later, so an observer that blocks, hangs or panics harms no
// turn. Up to 1,024 observations wait for it; those beyond are lost, and counted in
// [CacheObservation.Missed]. [Cache.Flush] waits for the observer. The context is never canceled.
type CacheObserver interface {
	Observe(ctx context.Context, o CacheObservation)
}

// CacheObserverFunc is a function as a [CacheObserver].
type CacheObserverFunc func(ctx context.Context, o CacheObservation)

// Observe calls f.
func (f CacheObserverFunc) Observe(ctx context.Context, o CacheObservation) { f(ctx, o) }

// CacheKind is what a [CacheObservation] is about.
type CacheKind string

const (
	// CacheCreated: requests use a new cache from now on.
	CacheCreated CacheKind = "cache created"
	// CacheProlonged: a cache that is in use lives for another TTL.
	CacheProlonged CacheKind = "cache prolonged"
	// CacheExpired: a cache came to its end. The next sightings can create another.
	CacheExpired CacheKind = "cache expired"
	// CacheDeleted: a cache was deleted.
	CacheDeleted CacheKind = "cache deleted"
	// CacheTooSmall: an instruction with its tools is too small to be cached, by estimate or, if Err is
	// set, by what the provider says. Reported once for each.
	CacheTooSmall CacheKind = "cache too small"
	// CacheBanned: the provider has refused a cache that it has created. Requests are sent without one for
	// 10 minutes.
	CacheBanned CacheKind = "cache banned"
	// CacheFailed: creating, prolonging or deleting a cache has failed. After a creation, the next attempt is 10
	// minutes later.
	CacheFailed CacheKind = "cache failed"
	// CacheUnsupported: [Cache.Model] was given a model without caches. Reported once for each call.
	CacheUnsupported CacheKind = "cache unsupported"
	// CacheStripped: the app has set CachedContent in a request with instruction or tools. Reported once
	// for each model.
	CacheStripped CacheKind = "cache stripped"
)

// CacheObservation is one thing that happened. Fields that do not apply are zero.
type CacheObservation struct {
	Kind   CacheKind
	Model  string
	Name   string // of the cache, as the provider calls it
	Tokens int    // that it holds; for CacheTooSmall, the estimate

	Reason string
	Err    error
	// Missed is how many observations were lost in front of this one, because the observer was slow.
	Missed int
}

// cacheReports passes observations on to the observer.
type cacheReports struct {
	observer CacheObserver // may be nil
	outbox   outbox.Outbox[CacheObservation]
}

// report passes an observation on. It never waits.
func (r *cacheReports) report(o CacheObservation) {
	if r.observer != nil {
		r.outbox.Add(o, r.deliver)
	}
}

func (r *cacheReports) deliver(o CacheObservation, missed int) {
	o.Missed = missed
	r.observer.Observe(context.Background(), o)
}

// Flush waits until the observer has received all observations so far. It returns only the context's error.
func (c *Cache) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	return c.store.outbox.Flush(ctx)
}
