package compaction

import (
	"context"
	"fmt"
	"maps"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// AppendEvent appends an event to the inner session and then checks whether a compaction is due. It
// returns errors of the inner service, but never one of a compaction. It strips a record from the
// event's metadata, because only the service writes records. It stores a tool's result even if ctx
// has ended; the inner service then has 5 seconds.
//
// A session that did not come from this service is passed to the inner service as it is.
func (s *CompactionSessionService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if adk.IsNil(sess) || ev == nil {
		return s.appendNil(ctx, sess, ev)
	}
	ev = withoutRecord(ev)
	class := adk.Classify(ev) // once, for all who ask what has come
	appendCtx, release := appendContext(ctx, ev, class)
	defer release()
	inner, h := s.sessions.Peel(sess)
	if h == nil {
		return s.appendForeign(appendCtx, sess, ev)
	}
	ev = s.sessions.WithID(ctx, ev)
	orphan, err := s.appendThrough(appendCtx, h, inner, ev)
	if err != nil {
		return err
	}
	if orphan != nil {
		s.reporter.Orphan(ctx, h.State, ev, orphan)
	}
	s.reporter.CutFailure(ctx, h.State, s.sessions.CutFailure(h.State.Ref))
	if adk.IsCompaction(ev) {
		s.reporter.Beside(ctx, h.State, ev)
	}
	if !ev.Partial {
		s.engine.AfterAppend(ctx, h, ev, class)
	}
	return nil
}

// appendThrough stores an event, adds it to the view, and stores the session's waiting drafts.
// orphan is the reason why a late answer is shown without its call, nil if it is not.
func (s *CompactionSessionService) appendThrough(ctx context.Context, h *sessions.Handle, inner session.Session, ev *session.Event) (orphan, err error) {
	lock := h.State.Append
	if err := lock.AcquireFree(ctx); err != nil {
		return nil, lockError(h.State.Ref, err)
	}
	handedOn := false
	defer func() { // a caller may recover from an inner service that panics
		if !handedOn {
			lock.Release()
		}
	}()
	if orphan, err = h.Append(ctx, inner, ev); err != nil {
		return orphan, err
	}
	if drafts := s.storage.DraftsFor(h, ev); len(drafts) > 0 {
		handedOn = true
		s.storage.StoreWaiting(ctx, h, drafts, ev.InvocationID)
	}
	return orphan, nil
}

// appendForeign passes a session of unknown origin on. It takes the session's append lock, like
// every other append.
func (s *CompactionSessionService) appendForeign(ctx context.Context, sess session.Session, ev *session.Event) error {
	if ref, ok := tryRef(s.reporter, sess); ok {
		lock := s.sessions.Of(ref).Append
		if err := lock.AcquireFree(ctx); err != nil {
			return lockError(ref, err)
		}
		defer lock.Release()
	}
	return s.inner.AppendEvent(ctx, sess, ev)
}

// appendNil lets the inner service refuse a nil session or event. It refuses a typed nil itself,
// because the inner service could not call any method of it.
func (s *CompactionSessionService) appendNil(ctx context.Context, sess session.Session, ev *session.Event) error {
	if sess != nil && adk.IsNil(sess) {
		return fmt.Errorf("append event: session is a nil %T", sess)
	}
	return s.inner.AppendEvent(ctx, sess, ev)
}

// tryRef names a session that may be a nil pointer or a half-made fake.
func tryRef(reporter *telemetry.Reporter, sess session.Session) (ref adk.SessionRef, ok bool) {
	defer reporter.Places.Survive("compaction: the name of a session")
	return adk.RefOf(sess), true
}

// lockError is the error of an append whose context ended while it waited for another one.
func lockError(ref adk.SessionRef, err error) error {
	return fmt.Errorf("wait for another append to session %q: %w", ref.SessionID, err)
}

// withoutRecord returns the event itself if it cannot become a record, else a copy without one. An
// event that has metadata and no content is always copied: the in-memory service keeps the caller's
// map, so the caller could put a record into it later.
func withoutRecord(ev *session.Event) *session.Event {
	if _, forged := ev.CustomMetadata[record.Key]; !forged && (ev.Content != nil || len(ev.CustomMetadata) == 0) {
		return ev
	}
	clean := *ev
	clean.CustomMetadata = maps.Clone(ev.CustomMetadata)
	delete(clean.CustomMetadata, record.Key)
	return &clean
}
