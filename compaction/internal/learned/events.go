package learned

import (
	"slices"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Events are facts about single events of a session, across its handles.
type Events struct {
	mu             sync.Mutex
	unreferencable map[key]bool
	reported       map[key]bool
	stale          []key // the newest last
}

// maxStale bounds how many stale reports are remembered: a few agents may answer at once.
const maxStale = 32

// key identifies an event by its ID, or, if it has none, by invocation, author and time.
type key struct {
	id  string
	alt record.AltKey
}

func keyOf(ev *session.Event) key {
	ref := record.RefTo(ev)
	if ref.ID != "" {
		return key{id: ref.ID}
	}
	return key{alt: ref.AltKey()}
}

// MarkUnreferencable notes that no record can refer to an event. A summary of it would hide
// nothing.
func (e *Events) MarkUnreferencable(ev *session.Event) { e.add(&e.unreferencable, keyOf(ev)) }

// Unreferencable reports whether no record can refer to an event.
func (e *Events) Unreferencable(ev *session.Event) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unreferencable) > 0 && e.unreferencable[keyOf(ev)]
}

// FirstReport notes that an event is reported as unreadable, and reports whether that is news.
func (e *Events) FirstReport(ev *session.Event) bool { return e.add(&e.reported, keyOf(ev)) }

// MarkStale notes that the provider's count in an event is of a prompt that was built before the
// view last changed.
func (e *Events) MarkStale(ev *session.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stale = append(e.stale, keyOf(ev)); len(e.stale) > maxStale {
		e.stale = slices.Delete(e.stale, 0, 1)
	}
}

// Stale reports whether the provider's count in an event is of a prompt from before the view
// changed.
func (e *Events) Stale(ev *session.Event) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.stale) > 0 && slices.Contains(e.stale, keyOf(ev))
}

func (e *Events) worthKeeping() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unreferencable) > 0 || len(e.stale) > 0
}

// add puts a key into a set and reports whether it is new.
func (e *Events) add(set *map[key]bool, k key) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if *set == nil {
		*set = map[key]bool{}
	}
	added := !(*set)[k]
	(*set)[k] = true
	return added
}
