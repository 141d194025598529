package compaction

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/compactor"
	"github.com/adk-go-ext/longsession/compaction/internal/sessions"
	"github.com/adk-go-ext/longsession/compaction/internal/storage"
	"github.com/adk-go-ext/longsession/compaction/internal/telemetry"
	"github.com/adk-go-ext/longsession/internal/adk"
)

var _ session.Service = (*CompactionSessionService)(nil)

// SessionRef names one session, by its AppName, UserID and SessionID, as ADK's requests do. It is the type of package
// store, too.
type SessionRef = adk.SessionRef

// CompactionSessionService decorates a session.Service; see the package comment. All of its methods
// are safe for concurrent use if the inner service's are.
type CompactionSessionService struct {
	inner    session.Service
	settings Settings
	sessions *sessions.Sessions
	storage  *storage.Storage
	reporter *telemetry.Reporter
	engine   *compactor.Engine
	deleted  listeners
}

// NewCompactionService decorates inner. For a config that contradicts itself, the error names
// field, value and effect. A service that is, or wraps, a compaction service is refused: two layers
// would summarize summaries. The config is copied.
//
// Any number of processes may share the store that inner is over, as long as no two are in a turn
// on one session at a time. If inner is a [RecordAppender], or ADK's in-memory service, the record
// of a background job is stored at once. Over any other service it waits in memory, and is stored
// directly after this process's next append to the session, through the same handle.
//
// Call Close before the process ends, or running jobs and waiting records are lost. Stored events
// are never lost: they stay in view, and are summarized again.
func NewCompactionService(inner session.Service, cfg Config) (*CompactionSessionService, error) {
	if adk.IsNil(inner) {
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
		inner: inner, settings: p.settings(),
		sessions: sessions.New(inner, p.limits, p.hooks()),
		reporter: newReporter(p),
	}
	s.storage = storage.New(s.sessions, s.reporter)
	s.engine = compactor.New(p.engine(inner), s.sessions, s.reporter, s.storage)
	return s, nil
}

// maxLayers bounds how far findLayer follows a chain of decorators: one that unwraps to itself must
// not cause an endless loop.
const maxLayers = 64

// findLayer returns the compaction service that service is or wraps, nil if there is none.
func findLayer(service session.Service) *CompactionSessionService {
	for range maxLayers {
		if layer, ok := service.(*CompactionSessionService); ok {
			return layer
		}
		wrapper, ok := service.(interface{ Unwrap() session.Service })
		if !ok {
			return nil
		}
		service = wrapper.Unwrap()
	}
	return nil
}

// Unwrap returns the inner service, as it was given.
func (s *CompactionSessionService) Unwrap() session.Service { return s.inner }

// Create creates a session in the inner service and returns a view of it. Errors are the inner service's, or say that
// it returned no session.
func (s *CompactionSessionService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	resp, err := s.inner.Create(ctx, req)
	if err != nil {
		return resp, err
	}
	if resp == nil || adk.IsNil(resp.Session) {
		return nil, errors.New("inner service returned no session that it has created")
	}
	return &session.CreateResponse{Session: s.sessions.Wrap(resp.Session, false)}, nil
}

// Get returns a view of a session. The filters of the request apply to the view, whose summaries
// count as events. Errors are the inner service's, or say that it returned no session.
func (s *CompactionSessionService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req == nil {
		return s.inner.Get(ctx, req)
	}
	resp, err := s.sessions.Get(ctx, req)
	ref := adk.SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID}
	if failed := s.sessions.CutFailure(ref); failed != nil {
		s.reporter.CutFailure(ctx, s.sessions.Of(ref), failed)
	}
	if err == nil {
		if _, h := s.sessions.Peel(resp.Session); h != nil {
			s.engine.AfterGet(ctx, h)
		}
	}
	return resp, err
}

// Raw returns the session as the inner service has it: the full history, including records. Errors
// are the inner service's, or say that it returned no session.
func (s *CompactionSessionService) Raw(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if req == nil {
		return s.inner.Get(ctx, req)
	}
	return s.sessions.Read(ctx, req)
}

// List lists the inner service's sessions. As everywhere in ADK they come without events. Errors are the inner service's,
// or say that it returned no list, or that a place of the list holds no session.
func (s *CompactionSessionService) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	resp, err := s.inner.List(ctx, req)
	if err != nil {
		return resp, err
	}
	if resp == nil {
		return nil, errors.New("inner service returned no list of sessions")
	}
	listed := make([]session.Session, len(resp.Sessions))
	for i, sess := range resp.Sessions {
		if adk.IsNil(sess) { // the reader of the list would panic when it asks the session for its ID
			return nil, fmt.Errorf("inner service returned no session in place %d of %d of its list", i+1, len(resp.Sessions))
		}
		listed[i] = s.sessions.Wrap(sess, true)
	}
	return &session.ListResponse{Sessions: listed}, nil
}

// Delete deletes a session. Jobs that still work on it store nothing.
func (s *CompactionSessionService) Delete(ctx context.Context, req *session.DeleteRequest) error {
	if req == nil {
		return s.inner.Delete(ctx, req)
	}
	st := s.sessions.Of(adk.SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	if err := s.deleteLocked(ctx, st, req); err != nil {
		return err
	}
	s.storage.Discard(ctx, st, storage.Deleted)
	return nil
}

// deleteLocked deletes a session while no event or record is being stored in it: a record must not
// land in a session created anew.
func (s *CompactionSessionService) deleteLocked(ctx context.Context, st *sessions.State, req *session.DeleteRequest) error {
	if err := st.Append.AcquireFree(ctx); err != nil {
		return lockError(st.Ref, err)
	}
	defer st.Append.Release()
	if err := s.inner.Delete(ctx, req); err != nil {
		return err
	}
	s.sessions.Drop(st.Ref)
	s.deleted.call(st.Ref)
	return nil
}

// Flush waits until no job of a session is running or due: it waits for jobs under way and in line,
// for the windows and merges that follow from them, and for compactions that were due before this
// process saw the session. It starts nothing that is not due, and does not retry failures. It
// returns only the context's error.
//
// Flush stores records that wait for the session's next append at once. If the inner service is not
// a [RecordAppender], another process that is in a turn on the session at that moment can lose its
// state or its turn. In that case call Flush only where no other process uses the session.
func (s *CompactionSessionService) Flush(ctx context.Context, ref SessionRef) error {
	return s.engine.Flush(ctx, ref)
}

// Close waits for all jobs of the service and starts no new ones. Sessions can still be read and
// appended to. When the context ends first, the jobs are canceled and its error is returned.
//
// Records that wait for the next append of their session are stored at once, at the same risk as
// with [CompactionSessionService.Flush]; those that cannot be stored in time are lost with the
// process, and their events stay visible.
func (s *CompactionSessionService) Close(ctx context.Context) error { return s.engine.Close(ctx) }

// Owns reports whether sess is a view of this service, directly or below other decorators. A layer that
// is called in the middle of a turn uses it to find out whether the turn's session can be compacted: an
// agent that runs as a tool has a session of its own, which this service does not know.
func (s *CompactionSessionService) Owns(sess session.Session) bool {
	if adk.IsNil(sess) {
		return false
	}
	_, h := s.sessions.Peel(sess)
	return h != nil
}
