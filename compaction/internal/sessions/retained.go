package sessions

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxRetained bounds how many sessions without a handle are remembered; the longest unused is
// forgotten first.
const maxRetained = 1024

// retained keeps the states of sessions alive about which there is something to remember.
type retained struct {
	mu    sync.Mutex
	byRef *simplelru.LRU[Ref, *State]
}

func newRetained() *retained {
	// NewLRU fails for a size that is not positive only.
	byRef, _ := simplelru.NewLRU[Ref, *State](maxRetained, nil)
	return &retained{byRef: byRef}
}

// update keeps a state alive if there is something to remember about it, and lets go of it
// otherwise. It returns the state that is given up for it, nil for none. It must be called after
// each change: the lock orders the looks, so the last one sees the last change.
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

// forget lets go of a state.
func (r *retained) forget(st *State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetLocked(st)
}

// forgetLocked leaves another state of the same session alone, which was created anew.
func (r *retained) forgetLocked(st *State) {
	if kept, ok := r.byRef.Peek(st.Ref); ok && kept == st {
		r.byRef.Remove(st.Ref)
	}
}
