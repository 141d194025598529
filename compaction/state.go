package compaction

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
)

// sessionState is what the service knows of one session while somebody holds a handle to it, a job
// works on it, or there is something to remember. Otherwise it is garbage. Each part locks itself.
type sessionState struct {
	ref SessionRef

	// append is held around every append of an event and every store of a record: ADK's services
	// compare a handle's last update time with the stored one, and a record that came between the two
	// would make the runner's handle stale and end its turn.
	append queue.Lock
	// line orders the jobs on the session.
	line *queue.Line[job]
	// waiting are drafts that are not stored yet: those of background jobs that wait for the next append,
	// and those that could not be stored. It is closed when the session was deleted: what a job still
	// finds out must not be stored in a session that was created anew under the same ID.
	waiting queue.Waiting[*draft]

	news    news
	runs    runs
	learned learned.Facts
	prompts *meter.Session
}

func newSessionState(ref SessionRef, limits *meter.Limits) *sessionState {
	st := &sessionState{ref: ref, append: queue.NewLock(), line: queue.NewLine[job](), news: news{cursors: map[*cursor]struct{}{}}}
	st.prompts = meter.NewSession(limits, &st.learned)
	return st
}

// isDeleted reports whether the session was deleted through this service.
func (st *sessionState) isDeleted() bool { return st.waiting.Closed() }

// worthKeeping reports whether there is something to remember about a session to which nobody holds a
// handle.
func (st *sessionState) worthKeeping() bool {
	return !st.isDeleted() && (st.learned.WorthKeeping() || st.prompts.WorthKeeping() || len(st.waiting.All()) > 0)
}

// closeWith closes a cursor when its handle is garbage.
func (st *sessionState) closeWith(h *handle, c *cursor) { runtime.AddCleanup(h, st.news.close, c) }

// states finds the state of a session. The zero value is not ready; see newStates.
type states struct {
	known    *registry
	retained *retained
}

// newStates returns states of which none is known. Each new one begins with the limits.
func newStates(limits *meter.Limits) *states {
	return &states{known: &registry{limits: limits, byRef: map[SessionRef]weak.Pointer[sessionState]{}}, retained: newRetained()}
}

// of returns the state of a session, making it if need be.
func (s *states) of(ref SessionRef) *sessionState { return s.known.of(ref) }

// withDrafts returns the states of all sessions that have drafts in line.
func (s *states) withDrafts() []*sessionState {
	return slices.DeleteFunc(s.known.all(), func(st *sessionState) bool { return len(st.waiting.All()) == 0 })
}

// remember keeps a state alive while it has something to remember, and returns the one that is given
// up for it, nil for none.
func (s *states) remember(st *sessionState) (givenUp *sessionState) { return s.retained.update(st) }

// drop makes a deleted session's state unreachable, so that a session created anew under the same
// ID starts with a fresh one.
func (s *states) drop(ref SessionRef) {
	st := s.known.remove(ref)
	if st == nil {
		return
	}
	st.waiting.Close()
	s.retained.forget(st)
}

// registry holds the states that are in use, without keeping them alive. It refers to nothing else:
// the cleanup of a state refers to it, and would keep whatever it refers to alive as well.
type registry struct {
	limits *meter.Limits

	mu    sync.Mutex
	byRef map[SessionRef]weak.Pointer[sessionState]
	// most is how many byRef held since it was made: a map never gives memory back.
	most int
}

func (r *registry) of(ref SessionRef) *sessionState {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.byRef[ref].Value(); st != nil {
		return st
	}
	st := newSessionState(ref, r.limits)
	r.byRef[ref] = weak.Make(st)
	r.most = max(r.most, len(r.byRef))
	runtime.AddCleanup(st, r.collect, ref)
	return st
}

func (r *registry) all() []*sessionState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*sessionState
	for _, p := range r.byRef {
		if st := p.Value(); st != nil {
			out = append(out, st)
		}
	}
	return out
}

// remove takes the state of a session out and returns it, nil if there is none.
func (r *registry) remove(ref SessionRef) *sessionState {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.byRef[ref].Value()
	delete(r.byRef, ref)
	return st
}

// collect drops the entry of a state that is garbage.
func (r *registry) collect(ref SessionRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.byRef[ref]; ok && p.Value() == nil {
		delete(r.byRef, ref)
	}
	if len(r.byRef) < r.most/4 {
		r.byRef = maps.Collect(maps.All(r.byRef))
		r.most = len(r.byRef)
	}
}
