// Package storage stores compaction records without harm to anybody's turn: at once where the inner
// service can do that, else with this process's next append to the session.
package storage

import (
	"context"
	"reflect"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/compaction/internal/writer"
)

const (
	// timeout bounds one attempt to store a record, because a turn may be waiting for it.
	timeout = 5 * time.Second
	// share is the part of the time that a turn has left which one attempt may use: a turn goes on without its record.
	share = 10
	// triesPerAttempt is how often one attempt offers a record to the inner service. The first try
	// may fail because an answer was lost, or because another process was in the way for a moment.
	triesPerAttempt = 2
	// maxTries is how often a record is offered before it is dropped. A service that refuses a
	// record for good must not end compaction for its session.
	maxTries = 2 * triesPerAttempt
)

// patience is how long an attempt to store a record may take.
func patience(ctx context.Context) time.Duration {
	if deadline, limited := ctx.Deadline(); limited {
		return min(timeout, time.Until(deadline)/share)
	}
	return timeout
}

// Deleted is the reason not to store a record of a session that was deleted.
const Deleted = "session was deleted meanwhile"

// RecordAppender is compaction.RecordAppender.
type RecordAppender interface {
	AppendRecord(ctx context.Context, sess session.Session, ev *session.Event) error
}

// mode is when the records of background jobs may be stored over an inner service.
type mode int

const (
	// inTurns is for any service that is not known to be safer: ADK's database service writes the
	// whole session row with every append, so a record that is appended between turns can erase the
	// state that another process writes, make its handle stale, or lock it out. A record is
	// therefore stored by this process's next append to the session, through the same handle: by
	// then nobody else is in a turn.
	inTurns mode = iota
	// atOnce is for a RecordAppender.
	atOnce
	// freely is for ADK's in-memory service: at once, through a handle of its own. That service
	// lives in one process, checks no update time and merges state key by key.
	freely
)

// inMemoryType is the type of ADK's in-memory service.
var inMemoryType = reflect.TypeOf(session.InMemoryService())

// Storage stores the records of one service, and is safe for concurrent use.
type Storage struct {
	sessions *sessions.Sessions
	reporter *telemetry.Reporter
	appender RecordAppender // nil if the inner service is none
	mode     mode
}

// New returns the storage for the inner service of the sessions.
func New(s *sessions.Sessions, r *telemetry.Reporter) *Storage {
	out := &Storage{sessions: s, reporter: r}
	out.appender, _ = s.Inner.(RecordAppender)
	switch {
	case reflect.TypeOf(s.Inner) == inMemoryType:
		out.mode = freely
	case out.appender != nil:
		out.mode = atOnce
	}
	return out
}

// MustWait reports whether a job's drafts wait for the next append instead of being stored by the
// job.
func (s *Storage) MustWait(j writer.Job) bool { return s.mode == inTurns && !j.Inline && !j.ByHand }

// Settlement is the outcome for a draft: the event that stores its record, or the reason why there
// is no point in storing it any more. The zero value is neither.
type Settlement struct {
	Event  *session.Event
	Reason string
}

// store stores a draft now: with AppendRecord, through a handle fetched for it, or through the
// handle of the turn that waits for it.
func (s *Storage) store(ctx context.Context, h *sessions.Handle, byHand bool, d *writer.Draft) (Settlement, error) {
	var try func(context.Context) (Settlement, error)
	switch {
	case s.mode == atOnce:
		try = func(ctx context.Context) (Settlement, error) { return s.appendRecord(ctx, h, d) }
	case s.mode == freely || byHand:
		try = func(ctx context.Context) (Settlement, error) { return s.storeThroughNewHandle(ctx, h.State, d) }
	default:
		return s.storeInTurn(ctx, h, d)
	}
	return offer(ctx, h.State, d, func(ctx context.Context) (Settlement, error) {
		return untilDone(ctx, func() (Settlement, error) { return try(ctx) })
	})
}

// storeInTurn stores a draft through the handle of the turn that waits for it.
func (s *Storage) storeInTurn(ctx context.Context, h *sessions.Handle, d *writer.Draft) (Settlement, error) {
	if err := h.State.Append.Acquire(ctx); err != nil {
		return Settlement{}, err
	}
	// offer stops when its patience ends. Twice that bounds the wait for a service that ignores its context.
	waiting, cancel := context.WithTimeout(ctx, 2*patience(ctx))
	defer cancel()
	return untilDone(waiting, func() (Settlement, error) {
		// A service that does not return in time keeps the lock: what it still does must not meet
		// another append.
		defer h.State.Append.Release()
		return s.storeThroughHandle(ctx, h, d)
	})
}
