package sessions

import (
	"context"
	"maps"
	"sync"
	"weak"
)

// runs are the invocations that run on one session in this process. The zero value is ready.
type runs struct {
	mu    sync.Mutex
	byID  map[string]run
	sweep int // how many of byID there must be before those that are over are forgotten
}

// run is an invocation that runs in this process. It holds no context, which would keep the run's
// session alive.
type run struct {
	done   <-chan struct{}
	handle weak.Pointer[Handle]
}

// Started notes that an invocation runs in this process, through a handle, and forgets those that
// are over.
func (r *runs) Started(ctx context.Context, invocationID string, h *Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.byID[invocationID]; known {
		return
	}
	if r.byID == nil {
		r.byID = map[string]run{}
	}
	if len(r.byID) >= r.sweep {
		maps.DeleteFunc(r.byID, func(_ string, one run) bool { return one.over() })
		r.sweep = 2*len(r.byID) + 8
	}
	r.byID[invocationID] = run{done: ctx.Done(), handle: weak.Make(h)}
}

// Running reports whether an invocation is known to be running in this process.
func (r *runs) Running(invocationID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.byID[invocationID]
	return known && !one.over()
}

// over reports whether a run has certainly ended: its context is done, or its session handle is
// garbage. ADK gives no better sign of the end of a run.
func (r run) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return r.handle.Value() == nil
	}
}
