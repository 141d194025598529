package compaction

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"google.golang.org/adk/session"
)

// sessionState is what the service knows of one session while somebody holds a handle to it, a job
// works on it, or there is something to remember (see memory). Otherwise it is garbage.
type sessionState struct {
	ref SessionRef

	// append is held around every append of an event and every store of a record: ADK's services
	// compare a handle's last update time with the stored one, and a record that came between the two
	// would make the runner's handle stale and end its turn.
	append sessionLock

	mu sync.Mutex
	// deleted is set when the session was deleted: what a job still finds out must not be stored in a
	// session that was created anew under the same ID.
	deleted bool
	// records are those stored by this process that some handle has not seen yet, oldest first;
	// forgotten counts those dropped from its front.
	records   []*session.Event
	forgotten int64
	cursors   map[*cursor]struct{}
	running   map[string]run
	sweep     int // how many of running there must be before those that are over are forgotten
	memory    memory

	// limits are those for the model that the agent last had; nil for the policy's.
	limits atomic.Pointer[limits]

	// stored counts all records that this process stored; written under mu.
	stored atomic.Int64

	jobs *jobs
}

// cursor is how many of a session's records one handle has seen.
type cursor struct{ seen atomic.Int64 }

// run is what is known of an invocation that runs in this process. It must not keep the run's
// session alive, so it holds no context.
type run struct {
	done   <-chan struct{}
	handle weak.Pointer[handle]
}

func newSessionState(ref SessionRef) *sessionState {
	return &sessionState{ref: ref, append: newSessionLock(), cursors: map[*cursor]struct{}{}, running: map[string]run{}, jobs: newJobs()}
}

// open gives a handle a place in the list of those that want to see new records. It must be called
// before the handle's events are read: a record stored in between is seen twice, never missed.
func (st *sessionState) open() *cursor {
	st.mu.Lock()
	defer st.mu.Unlock()
	c := &cursor{}
	c.seen.Store(st.stored.Load())
	st.cursors[c] = struct{}{}
	return c
}

// close forgets a cursor.
func (st *sessionState) close(c *cursor) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.cursors, c)
	st.forget()
}

// closeWith forgets the cursor when the handle is garbage.
func (st *sessionState) closeWith(h *handle, c *cursor) { runtime.AddCleanup(h, st.close, c) }

// hasNews reports whether there are records that the cursor has not seen.
func (st *sessionState) hasNews(c *cursor) bool { return c.seen.Load() < st.stored.Load() }

// news calls f with every record that the cursor has not seen.
func (st *sessionState) news(c *cursor, f func(*session.Event)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for seen := c.seen.Load(); seen < st.stored.Load(); seen++ {
		f(st.records[seen-st.forgotten])
		c.seen.Store(seen + 1)
	}
	st.forget()
}

// forget drops the records that every handle has seen. The caller holds mu.
func (st *sessionState) forget() {
	seen := st.stored.Load()
	for c := range st.cursors {
		seen = min(seen, c.seen.Load())
	}
	if n := seen - st.forgotten; n > 0 {
		st.records = append([]*session.Event(nil), st.records[n:]...)
		st.forgotten = seen
	}
}

// publish makes a stored record known to all handles.
func (st *sessionState) publish(ev *session.Event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.records = append(st.records, ev)
	st.stored.Add(1)
	st.forget()
}

// isDeleted reports whether the session was deleted through this service.
func (st *sessionState) isDeleted() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.deleted
}

// started notes that an invocation runs in this process, and forgets those that are over.
func (st *sessionState) started(ctx context.Context, invocationID string, h *handle) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, known := st.running[invocationID]; known {
		return
	}
	if len(st.running) >= st.sweep {
		maps.DeleteFunc(st.running, func(_ string, r run) bool { return r.over() })
		st.sweep = 2*len(st.running) + 8
	}
	st.running[invocationID] = run{done: ctx.Done(), handle: weak.Make(h)}
}

// isRunning reports whether an invocation is known to be running in this process.
func (st *sessionState) isRunning(invocationID string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	r, known := st.running[invocationID]
	return known && !r.over()
}

// over reports whether a run has certainly ended: its context is done, or nobody holds its session
// handle any more. There is no better sign of the end of a run.
func (r run) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return r.handle.Value() == nil
	}
}

// states finds the state of a session. The zero value is not ready; see newStates.
type states struct {
	known   *registry
	mindful *memories
}

func newStates() *states {
	return &states{known: &registry{byRef: map[SessionRef]weak.Pointer[sessionState]{}}, mindful: newMemories()}
}

// of returns the state of a session, making it if need be.
func (s *states) of(ref SessionRef) *sessionState { return s.known.of(ref) }

// withDrafts returns the states of all sessions that have drafts in line.
func (s *states) withDrafts() []*sessionState {
	return slices.DeleteFunc(s.known.all(), func(st *sessionState) bool { return len(st.waitingDrafts()) == 0 })
}

// remember keeps a state alive while it has something to remember, and returns the one that is given
// up for it, nil for none.
func (s *states) remember(st *sessionState) (givenUp *sessionState) {
	st.mu.Lock() // what is worth keeping must not change before it is kept
	defer st.mu.Unlock()
	if st.deleted || !st.memory.worthKeeping() {
		s.mindful.forget(st)
		return nil
	}
	return s.mindful.keep(st)
}

// drop makes a deleted session's state unreachable, so that a session created anew under the same
// ID starts with a fresh one.
func (s *states) drop(ref SessionRef) {
	st := s.known.remove(ref)
	if st == nil {
		return
	}
	st.mu.Lock()
	st.deleted = true
	st.mu.Unlock()
	s.mindful.forget(st)
}

// registry holds the states that are in use, without keeping them alive. It refers to nothing else:
// the cleanup of a state refers to it, and would keep whatever it refers to alive as well.
type registry struct {
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
	st := newSessionState(ref)
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
