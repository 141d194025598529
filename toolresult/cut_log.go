package toolresult

import (
	"hash/maphash"
	"sync"
)

// The bounds of the log. A cut that is seen again is not reported again while it is among the newest.
const (
	maxLogged = 1_000
	maxSeen   = 8_192
	maxQueued = 1_000
)

// cutLog keeps the newest cuts and passes them on to an observer. Each Get of a session shortens the same
// events again, so the log remembers the cuts that it has seen and reports each of them once.
type cutLog struct {
	observer func(Cut) // may be nil

	mu        sync.Mutex
	cuts      []Cut // a ring once it is full
	oldest    int   // in a full ring
	seen, old map[uint64]struct{}
	queue     []Cut // for the observer
	observing bool  // a goroutine works on the queue
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
		if l.observer != nil && len(l.queue) < maxQueued {
			l.queue = append(l.queue, cut)
		}
	}
	if len(l.queue) > 0 && !l.observing {
		l.observing = true
		go l.observe()
	}
}

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

// observe passes the queue on until it is empty.
func (l *cutLog) observe() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.queue, l.observing = nil, false
			l.mu.Unlock()
			return
		}
		cut := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		func() {
			defer func() { _ = recover() }()
			l.observer(cut)
		}()
	}
}

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
