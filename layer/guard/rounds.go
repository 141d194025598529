package guard

import (
	"context"
	"sync"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// rounds are the answers of models that are not stored yet, or whose tools are running. ADK's ParallelAgent
// drops what its other agents do when one of them fails: then a model call would be missing in the stored
// totals, and a tool call without its response makes providers refuse the session. So a refusal waits for the
// others.
type rounds struct {
	mu      sync.Mutex
	open    map[run]map[string]struct{} // by branch: a task works in the scope of a call that waits for it
	changed chan struct{}
}

// run is one invocation of a session.
type run struct {
	ref        compaction.SessionRef
	invocation string
}

// maxWait is how long a refusal waits for others. ADK waits for their tools in any case, so this is only for
// an answer whose event was dropped.
const maxWait = 10 * time.Minute

// start begins an invocation. Others, such as those of agents that run as tools, are not followed.
func (r *rounds) start(who caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[run{who.ref, who.invocation}] = map[string]struct{}{}
}

// begin notes that a model has answered in a branch.
func (r *rounds) begin(who caller) {
	if who.branch == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if open, followed := r.open[run{who.ref, who.invocation}]; followed {
		open[who.branch] = struct{}{}
	}
}

// event notes an event that the runner is about to store. A round ends with the results of its tools, or with
// an answer that calls none.
func (r *rounds) event(who caller, ev *session.Event) {
	if len(adk.FunctionResponses(ev)) > 0 || len(adk.FunctionCalls(ev)) == 0 {
		r.end(who)
	}
}

// end ends a round.
func (r *rounds) end(who caller) {
	if who.branch == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open[run{who.ref, who.invocation}], who.branch)
	r.wake()
}

// forget forgets an invocation that has ended.
func (r *rounds) forget(who caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, run{who.ref, who.invocation})
	r.wake()
}

func (r *rounds) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// others reports whether there are rounds in other branches. The channel is closed when that may have changed.
func (r *rounds) others(who caller) (bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for branch := range r.open[run{who.ref, who.invocation}] {
		if branch != who.branch {
			return true, r.changed
		}
	}
	return false, r.changed
}

// wait waits until there is no round and no model call in other branches.
func (r *rounds) wait(ctx context.Context, who caller, p ledger.Payer) {
	r.end(who)
	if who.branch == "" {
		return
	}
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	for {
		inFlight, landed := p.InFlight()
		busy, changed := r.others(who)
		if inFlight == 0 && !busy {
			return
		}
		select {
		case <-landed:
		case <-changed:
		case <-ctx.Done():
			return
		case <-timeout.C:
			return
		}
	}
}
