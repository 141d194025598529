package sessions

import (
	"maps"
	"runtime"
	"sync"
	"weak"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
)

// registry holds the states that are in use, without keeping them alive. It refers to nothing else:
// the cleanup of a state refers to it, and would keep whatever it refers to alive as well.
type registry struct {
	limits *meter.Limits

	mu    sync.Mutex
	byRef map[Ref]weak.Pointer[State]
	// most is how many byRef held since it was made: a map never gives memory back.
	most int
}

func (r *registry) of(ref Ref) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.byRef[ref].Value(); st != nil {
		return st
	}
	st := newState(ref, r.limits)
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

func (r *registry) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byRef)
}

// remove takes the state of a session out and returns it, nil if there is none.
func (r *registry) remove(ref Ref) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.byRef[ref].Value()
	delete(r.byRef, ref)
	return st
}

// collect drops the entry of a state that is garbage.
func (r *registry) collect(ref Ref) {
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
