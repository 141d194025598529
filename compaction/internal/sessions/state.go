package sessions

import (
	"runtime"

	"github.com/adk-go-ext/longsession/compaction/internal/learned"
	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
	"github.com/adk-go-ext/longsession/internal/adk"
)

// State is what a service knows about one session. It is kept while a handle or a job refers to it,
// or while it has something to remember. Each part locks itself.
type State struct {
	Ref adk.SessionRef
	// Append is held around every append of an event and every store of a record: ADK's services
	// compare a handle's last update time with the stored one, and a record that came between the
	// two would make the runner's handle stale and end its turn.
	Append queue.Lock
	// Line orders the jobs on the session.
	Line *queue.Line
	// Waiting are drafts that are not stored yet: those of background jobs that wait for the next
	// append, and those that could not be stored. It is closed when the session was deleted: what a
	// job still finds out must not be stored in a session that was created anew under the same ID.
	Waiting queue.Waiting[*writer.Draft]
	// Lease is the right to summarize the session in the background that this process has of all processes.
	Lease   queue.Lease
	Learned learned.Facts
	Prompts *meter.Session

	news // Publish
	runs // Started, Running
}

func newState(ref adk.SessionRef, limits *meter.Limits, fixed meter.Fixed) *State {
	st := &State{Ref: ref, Append: queue.NewLock(), Line: queue.NewLine(), news: news{cursors: map[*cursor]struct{}{}}}
	st.Prompts = meter.NewSession(limits, &st.Learned, fixed)
	return st
}

// Deleted reports whether the session was deleted through this service.
func (st *State) Deleted() bool { return st.Waiting.Closed() }

// EndLease gives the lease on the session back, unless a draft waits that is to be stored under it.
func (st *State) EndLease() {
	if len(st.Waiting.All()) == 0 {
		st.Lease.Release()
	}
}

// worthKeeping reports whether there is something to remember about a session to which nobody holds
// a handle.
func (st *State) worthKeeping() bool {
	return !st.Deleted() && (st.Learned.WorthKeeping() || st.Prompts.WorthKeeping() || len(st.Waiting.All()) > 0)
}

// closeWith closes a cursor when its handle is garbage.
func (st *State) closeWith(h *Handle, c *cursor) { runtime.AddCleanup(h, st.news.close, c) }
