package compaction

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/queue"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/record"
)

var _ session.Service = (*CompactionSessionService)(nil)

// SessionRef names one session.
type SessionRef struct{ AppName, UserID, SessionID string }

func refOf(sess session.Session) SessionRef {
	return SessionRef{AppName: sess.AppName(), UserID: sess.UserID(), SessionID: sess.ID()}
}

// tryRef is refOf for sessions that may be nil pointers or half-made fakes.
func tryRef(sess session.Session) (ref SessionRef, ok bool) {
	defer func() { ok = recover() == nil }()
	return refOf(sess), true
}

func (r SessionRef) request() *session.GetRequest {
	return &session.GetRequest{AppName: r.AppName, UserID: r.UserID, SessionID: r.SessionID}
}

// CompactionSessionService decorates a session.Service; see the package comment.
type CompactionSessionService struct {
	inner   session.Service
	storing storing
	policy  *policy
	states  *states
	bases   *bases
	queue   *queue.Queue
}

// NewCompactionService decorates inner. It returns an error that names field, value and effect for a
// config that cannot do what it says, and refuses a service that is, or wraps, a compaction service
// already: two layers would summarize summaries. The config is copied.
//
// Any number of processes may share the store that inner is over, as long as no two are in a turn on
// one session at a time. If inner is a [RecordAppender], or ADK's in-memory service, the record of a
// background job is stored at once. Over any other service it waits in memory, and is stored directly
// behind this process's next append to the session, through the same handle.
//
// Close must be called before the process ends, or jobs that are under way and records that wait are
// lost. Stored events never are: they stay in view, and are summarized again.
func NewCompactionService(inner session.Service, cfg Config) (*CompactionSessionService, error) {
	if isNil(inner) {
		return nil, errors.New("compaction: inner session service is nil")
	}
	if layer := findLayer(inner); layer != nil {
		return nil, fmt.Errorf("compaction: inner service %T already compacts: two layers would summarize each other's summaries; wrap the innermost service once", inner)
	}
	p, err := newPolicy(cfg)
	if err != nil {
		return nil, err
	}
	s := &CompactionSessionService{
		inner:   inner,
		storing: storingOf(inner),
		policy:  p,
		bases:   newBases(),
		queue:   queue.New(),
	}
	s.states = newStates(p.limits)
	if cfg.AgentModelFunc == nil {
		s.reportAssumed(context.Background(), p.limits)
	}
	return s, nil
}

// appendNil has the inner service refuse what is nil. A typed nil is refused here: there is no method of
// it that the inner service could call.
func (s *CompactionSessionService) appendNil(ctx context.Context, sess session.Session, ev *session.Event) error {
	if sess != nil && isNil(sess) {
		return fmt.Errorf("append event: session is a nil %T", sess)
	}
	return s.inner.AppendEvent(ctx, sess, ev)
}

// Unwrap returns the inner service, as it was given.
func (s *CompactionSessionService) Unwrap() session.Service { return s.inner }

// Create creates a session in the inner service and returns a view of it.
func (s *CompactionSessionService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := s.inner.Create(ctx, req)
	if err != nil || resp == nil || isNil(resp.Session) {
		return resp, err
	}
	return &session.CreateResponse{Session: s.wrap(resp.Session, nil)}, nil
}

// Get returns a view of a session. The filters of the request apply to the view: the newest events
// of it, summaries counted. Errors are the inner service's.
func (s *CompactionSessionService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req == nil {
		return s.inner.Get(ctx, req)
	}
	// The place in line comes first: a record stored while the events are read is seen twice, not missed.
	st := s.states.of(SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	c := st.news.open()
	var h *handle
	defer func() {
		if h == nil { // also where the inner service panics
			st.news.close(c)
		}
	}()
	whole := *req
	whole.NumRecentEvents, whole.After = 0, time.Time{}
	resp, err := s.load(ctx, &whole)
	if err != nil || resp == nil || isNil(resp.Session) {
		return resp, err
	}
	h = s.newHandle(st, c, resp.Session)
	h.recent.Store(int64(max(0, req.NumRecentEvents)))
	h.after = req.After
	return &session.GetResponse{Session: filtered.NewSession(resp.Session, h)}, nil
}

// List lists the inner service's sessions. As everywhere in ADK they come without events.
func (s *CompactionSessionService) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	resp, err := s.inner.List(ctx, req)
	if err != nil || resp == nil {
		return resp, err
	}
	sessions := make([]session.Session, len(resp.Sessions))
	for i, sess := range resp.Sessions {
		if sess != nil {
			sessions[i] = s.wrap(sess, func(h *handle) { h.listed = true })
		}
	}
	return &session.ListResponse{Sessions: sessions}, nil
}

// Delete deletes a session. Jobs that still work on it store nothing.
func (s *CompactionSessionService) Delete(ctx context.Context, req *session.DeleteRequest) error {
	if req == nil {
		return s.inner.Delete(ctx, req)
	}
	ref := SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID}
	st := s.states.of(ref)
	if err := s.deleteLocked(ctx, st, req); err != nil {
		return err
	}
	s.discardWaiting(ctx, st, errDeleted.Error())
	return nil
}

// deleteLocked deletes a session while no event or record is being stored in it: a record must not land
// in a session created anew.
func (s *CompactionSessionService) deleteLocked(ctx context.Context, st *sessionState, req *session.DeleteRequest) error {
	if err := st.append.Acquire(ctx); err != nil {
		return lockError(st.ref, err)
	}
	defer st.append.Release()
	if err := s.inner.Delete(ctx, req); err != nil {
		return err
	}
	s.states.drop(st.ref)
	s.bases.forget(st.ref)
	return nil
}

// AppendEvent appends an event to the inner session and then looks whether a compaction is due. Its
// errors are the inner service's: nothing that goes wrong in a compaction is among them. A record in
// the event's metadata is stripped: only the service writes records. A tool's result is stored even
// if ctx has ended, for which the inner service gets up to 5 seconds more.
//
// A session that this service did not give out is passed through to the inner service as it is.
func (s *CompactionSessionService) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	if isNil(sess) || ev == nil {
		return s.appendNil(ctx, sess, ev)
	}
	ev = withoutRecord(ev)
	deliver, release := delivery(ctx, ev)
	defer release()
	inner, h := s.peel(sess)
	if h == nil {
		return s.appendForeign(deliver, sess, ev)
	}
	ev = s.named(ctx, ev)
	alone, err := s.appendThrough(deliver, h, inner, ev)
	if err != nil {
		return err
	}
	if alone != nil {
		s.policy.reporter.Observe(ctx, telemetry.Observation{
			Outcome: telemetry.Failed, Session: telemetry.Session(h.state.ref), Branch: ev.Branch, InvocationID: ev.InvocationID, Err: failure(alone),
		})
	}
	if !ev.Partial {
		s.afterAppend(ctx, h, ev)
	}
	return nil
}

// appendForeign passes a session of unknown origin on, in line with the other appends to it.
func (s *CompactionSessionService) appendForeign(ctx context.Context, sess session.Session, ev *session.Event) error {
	if ref, ok := tryRef(sess); ok {
		st := s.states.of(ref)
		if err := st.append.Acquire(ctx); err != nil {
			return lockError(ref, err)
		}
		defer st.append.Release()
	}
	return s.inner.AppendEvent(ctx, sess, ev)
}

// appendThrough stores an event and adds it to the view. alone says why a late answer stands in the view
// without its call.
func (s *CompactionSessionService) appendThrough(ctx context.Context, h *handle, inner session.Session, ev *session.Event) (alone, err error) {
	if err := h.state.append.Acquire(ctx); err != nil {
		return nil, lockError(h.state.ref, err)
	}
	handedOn := false
	defer func() { // whatever happens: a caller may recover from an inner service that panics
		if !handedOn {
			h.state.append.Release()
		}
	}()
	if alone, err = s.appendLocked(ctx, h, inner, ev); err != nil {
		return alone, err
	}
	if drafts := s.draftsFor(h, ev); len(drafts) > 0 {
		handedOn = true
		s.storeWaiting(ctx, h, drafts, ev.InvocationID)
	}
	return alone, nil
}

// appendLocked is appendThrough for a caller that holds the session's lock.
func (s *CompactionSessionService) appendLocked(ctx context.Context, h *handle, inner session.Session, ev *session.Event) (alone, err error) {
	if err := s.inner.AppendEvent(ctx, inner, ev); err != nil {
		return nil, err
	}
	switch {
	case ev.Partial:
	case h.isLate(ev):
		alone = s.bringBack(ctx, h, ev)
	default:
		h.appended(ev)
	}
	return alone, nil
}

// lockError is returned where a context ended while another append to the session was under way.
func lockError(ref SessionRef, err error) error {
	return fmt.Errorf("wait for another append to session %q: %w", ref.SessionID, err)
}

// Raw returns the session as the inner service has it: the full history, records among it. Errors
// are the inner service's.
func (s *CompactionSessionService) Raw(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	return s.inner.Get(ctx, req)
}

// withoutRecord returns the event without a record in its metadata: the event itself where there is
// none, else a copy. An event without content, which alone can be a record, is copied wherever it has
// metadata: the in-memory service keeps the caller's map, and a record could be put into it later.
func withoutRecord(ev *session.Event) *session.Event {
	if _, forged := ev.CustomMetadata[record.Key]; !forged && (ev.Content != nil || len(ev.CustomMetadata) == 0) {
		return ev
	}
	clean := *ev
	clean.CustomMetadata = maps.Clone(ev.CustomMetadata)
	delete(clean.CustomMetadata, record.Key)
	return &clean
}
