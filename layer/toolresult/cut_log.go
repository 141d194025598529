package toolresult

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/adk-go-ext/longsession/internal/outbox"
)

// The bounds of the log. A cut that is seen again is not reported again while it is among the newest.
const (
	maxLogged = 1_000
	maxSeen   = 8_192
)

// cutLog keeps the newest cuts and passes them on to an observer. Each Get of a session shortens the same
// events again, so the log remembers the cuts that it has seen and reports each of them once.
type cutLog struct {
	observer func(Cut) // may be nil

	mu        sync.Mutex
	cuts      []Cut // a ring once it is full
	oldest    int   // in a full ring
	seen, old map[uint64]struct{}
	outbox    outbox.Outbox[Cut] // for the observer
}

var seenSeed = maphash.MakeSeed() // for membership only, so it may differ between processes

// add logs the cuts that are new. It never waits for the observer.
func (l *cutLog) add(cuts []Cut) {
	if len(cuts) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cut := range cuts {
		if !l.isNew(maphash.Comparable(seenSeed, cut)) {
			continue
		}
		if len(l.cuts) < maxLogged {
			l.cuts = append(l.cuts, cut)
		} else {
			l.cuts[l.oldest] = cut
			l.oldest = (l.oldest + 1) % maxLogged
		}
		if l.observer != nil {
			l.outbox.Add(cut, l.deliver)
		}
	}
}

func (l *cutLog) deliver(cut Cut, _ int) { l.observer(cut) }

// isNew reports whether a key is new, and remembers it. It knows at least the newest [maxSeen] keys.
func (l *cutLog) isNew(key uint64) bool {
	if _, seen := l.seen[key]; seen {
		return false
	}
	if _, seen := l.old[key]; seen {
		return false
	}
	if len(l.seen) >= maxSeen || l.seen == nil {
		l.seen, l.old = make(map[uint64]struct{}), l.seen
	}
	l.seen[key] = struct{}{}
	return true
}

// Flush waits until Config.Observer has received all cuts so far. It returns only the context's error.
func (c *Cutter) Flush(ctx context.Context) error { return c.log.outbox.Flush(ctx) }

// TruncateLog returns a line for each of the newest 1,000 results that [Cutter.Event] shortened in this
// process, oldest first. [Cutter.Cuts] computes those of a whole history.
func (c *Cutter) TruncateLog() []string {
	l := &c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := make([]string, len(l.cuts))
	for i := range lines {
		lines[i] = l.cuts[(l.oldest+i)%len(l.cuts)].String()
	}
	return lines
}
