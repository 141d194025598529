package sessions

import (
	"maps"
	"runtime"
	"sync"
	"weak"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// registry holds the states that are in use, without keeping them alive. The cleanup of each state
// refers to the registry, so the registry must not refer to anything that should be collected.
type registry struct {
	limits *meter.Limits
	fixed  func(ref adk.SessionRef, agent, branch string) int

	mu    sync.Mutex
	byRef map[adk.SessionRef]weak.Pointer[State]
	// most is how many byRef held since it was made: a map never gives memory back.
	most int
}

func (r *registry) of(ref adk.SessionRef) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.byRef[ref].Value(); st != nil {
		return st
	}
	var fixed meter.Fixed
	if ask := r.fixed; ask != nil {
		fixed = func(agent, branch string) int { return ask(ref, agent, branch) }
	}
	st := newState(ref, r.limits, fixed)
	r.byRef[ref] = weak.Make(st)
	r.most = max(r.most, len(r.byRef))
	runtime.AddCleanup(st, r.collect, ref)
	return st
}

func (r *registry) all() []*State {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*State
	for _, p := range r.byRef {
		if st := p.Value(); st != nil {
			out = append(out, st)
		}
	}
	return out
}

// remove takes the state of a session out and returns it, nil if there is none.
func (r *registry) remove(ref adk.SessionRef) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.byRef[ref].Value()
	delete(r.byRef, ref)
	return st
}

// collect drops the entry of a state that is garbage.
func (r *registry) collect(ref adk.SessionRef) {
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

// maxRetained is how many sessions without a handle are remembered. The least recently used one is
// forgotten first.
const maxRetained = 1024

// retained keeps states alive that have something to remember.
type retained struct {
	mu    sync.Mutex
	byRef *simplelru.LRU[adk.SessionRef, *State]
}

func newRetained() *retained {
	// NewLRU only fails for a size that is not positive.
	byRef, _ := simplelru.NewLRU[adk.SessionRef, *State](maxRetained, nil)
	return &retained{byRef: byRef}
}

// update keeps a state alive if it has something to remember, and drops it otherwise. If it had to
// drop another state to make room, it returns that one, else nil. It must be called after each
// change: the lock orders the calls, so the last call sees the last change.
func (r *retained) update(st *State) (givenUp *State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !st.worthKeeping() {
		r.forgetLocked(st)
		return nil
	}
	if !r.byRef.Contains(st.Ref) && r.byRef.Len() == maxRetained {
		_, givenUp, _ = r.byRef.RemoveOldest()
	}
	r.byRef.Add(st.Ref, st)
	return givenUp
}

// forget drops a state.
func (r *retained) forget(st *State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetLocked(st)
}

// forgetLocked drops a state, but not a newer state of a session that was created again.
func (r *retained) forgetLocked(st *State) {
	if kept, ok := r.byRef.Peek(st.Ref); ok && kept == st {
		r.byRef.Remove(st.Ref)
	}
}
