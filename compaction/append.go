package compaction

import (
	"context"
	"fmt"
	"maps"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// AppendEvent appends an event to the inner session and then checks whether a compaction is due. It
// returns the inner service's errors, and never one of a compaction. A record in the event's
// metadata is stripped, because only the service writes records. A tool's result is stored even if
// ctx has ended; the inner service gets up to 5 seconds for that.
//
// A session that this service did not give out is passed through to the inner service as it is.
func (s *CompactionSessionService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if adk.IsNil(sess) || ev == nil {
		return s.appendNil(ctx, sess, ev)
	}
	ev = withoutRecord(ev)
	deliver, release := delivery(ctx, ev)
	defer release()
	inner, h := s.sessions.Peel(sess)
	if h == nil {
		return s.appendForeign(deliver, sess, ev)
	}
	ev = s.sessions.WithID(ctx, ev)
	orphan, err := s.appendThrough(deliver, h, inner, ev)
	if err != nil {
		return err
	}
	if orphan != nil {
		s.reporter.Orphan(ctx, h.State, ev, orphan)
	}
	if !ev.Partial {
		s.engine.AfterAppend(ctx, h, ev)
	}
	return nil
}

// appendThrough stores an event and adds it to the view, and stores the records that have waited
// for it. orphan says why a late answer is shown without its call.
func (s *CompactionSessionService) appendThrough(ctx context.Context, h *sessions.Handle, inner session.Session, ev *session.Event) (orphan, err error) {
	lock := h.State.Append
	if err := lock.Acquire(ctx); err != nil {
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

// appendForeign passes a session of unknown origin on, in line with the other appends to it.
func (s *CompactionSessionService) appendForeign(ctx context.Context, sess session.Session, ev *session.Event) error {
	if ref, ok := tryRef(sess); ok {
		lock := s.sessions.Of(ref).Append
		if err := lock.Acquire(ctx); err != nil {
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
func tryRef(sess session.Session) (ref sessions.Ref, ok bool) {
	defer func() { ok = recover() == nil }()
	return sessions.RefOf(sess), true
}

// lockError is returned where a context ended while another append to the session was under way.
func lockError(ref sessions.Ref, err error) error {
	return fmt.Errorf("wait for another append to session %q: %w", ref.SessionID, err)
}

// withoutRecord returns the event without a record in its metadata: the event itself where there is
// none, else a copy. An event without content, which alone can be a record, is copied wherever it
// has metadata: the in-memory service keeps the caller's map, and a record could be put into it
// later.
func withoutRecord(ev *session.Event) *session.Event {
	if _, forged := ev.CustomMetadata[record.Key]; !forged && (ev.Content != nil || len(ev.CustomMetadata) == 0) {
		return ev
	}
	clean := *ev
	clean.CustomMetadata = maps.Clone(ev.CustomMetadata)
	delete(clean.CustomMetadata, record.Key)
	return &clean
}
