package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

var _ session.Service = (*StrictService)(nil)

// ErrUnavailable is the error that a [StrictService] returns from calls that it was set to fail.
var ErrUnavailable = errors.New("strict storage is unavailable")

// StrictOptions turn off the limitations of a [StrictService] one by one. The zero value has all of
// them, except that no call fails.
type StrictOptions struct {
	// KeepIDs returns events with the IDs they were appended with. Otherwise storage renames them,
	// as Vertex AI does: a handle shows its own events under the caller's IDs, and every Get under
	// new ones.
	KeepIDs bool
	// KeepNanoseconds keeps times as they are. Otherwise they are truncated to microseconds, in the
	// caller's event too, as ADK's database service does.
	KeepNanoseconds bool
	// KeepTypes keeps Go types. Otherwise events and state are encoded as JSON and decoded: every
	// number in a map becomes a float64, every list a []any, every time a string.
	KeepTypes bool
	// KeepFields keeps all fields. Otherwise the fields and parts that Vertex AI loses are dropped,
	// including usage, citations, requested confirmations, transfers, transcriptions and files.
	KeepFields bool
	// KeepOrder returns events in the order of appends. Otherwise a Get sorts them by time and
	// reverses ties, as ADK's database service on SQLite does.
	KeepOrder bool
	// KeepApart gives every Get its own copies of the events. Otherwise all Gets share them and,
	// with KeepTypes, share their content with the appended event, as in ADK's in-memory service.
	KeepApart bool
	// AcceptForeign accepts appends to sessions of any type. Otherwise only sessions of this
	// service are accepted.
	AcceptForeign bool
	// AcceptStale accepts appends through handles that have missed an append. Otherwise they are
	// rejected, as in ADK's database service.
	AcceptStale bool
	// FailEvery makes every n-th call fail with [ErrUnavailable]. If 0, no call fails. An event
	// whose append fails is not stored but stays in the handle, as in ADK's database service.
	FailEvery int
}

// StrictService is an in-memory session.Service that combines the limitations of all ADK services.
// Code that works on it works on every backend. It is safe for concurrent use.
type StrictService struct {
	opts StrictOptions

	mu       sync.Mutex
	sessions map[strictKey]*strictRecord
	order    []strictKey
	state    map[scopeKey]map[string]any
	named    int
	calls    int
	failures int
}

type strictKey struct{ app, user, id string }

// strictRecord is one stored session.
type strictRecord struct {
	events  []*session.Event
	state   map[string]any
	updated time.Time
}

// NewStrictService returns an empty service.
func NewStrictService(opts StrictOptions) *StrictService {
	return &StrictService{opts: opts, sessions: map[strictKey]*strictRecord{}, state: map[scopeKey]map[string]any{}}
}

// SetFailEvery makes every n-th call fail from now on, or none if n is 0. Calls are counted from
// the service's first. It returns the previous setting.
func (s *StrictService) SetFailEvery(n int) (before int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.opts.FailEvery = s.opts.FailEvery, n
	return before
}

// Failures returns the number of calls that have failed with [ErrUnavailable].
func (s *StrictService) Failures() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// call counts a call and fails it if it is the n-th. The caller holds mu.
func (s *StrictService) call(name string) error {
	s.calls++
	if s.opts.FailEvery <= 0 || s.calls%s.opts.FailEvery != 0 {
		return nil
	}
	s.failures++
	return fmt.Errorf("%s: %w", name, ErrUnavailable)
}

// Create creates a session. It rejects an ID that exists.
func (s *StrictService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req.AppName == "" || req.UserID == "" {
		return nil, fmt.Errorf("app name and user ID are required, got %q and %q", req.AppName, req.UserID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("create"); err != nil {
		return nil, err
	}
	key := strictKey{req.AppName, req.UserID, req.SessionID}
	if key.id == "" {
		key.id = platform.NewUUID(ctx)
	}
	if s.sessions[key] != nil {
		return nil, fmt.Errorf("session %q exists already", key.id)
	}
	stored := &strictRecord{state: map[string]any{}, updated: s.cut(platform.Now(ctx))}
	if err := s.setState(key, stored, req.State); err != nil {
		return nil, err
	}
	s.sessions[key] = stored
	s.order = append(s.order, key)
	return &session.CreateResponse{Session: s.handle(key, stored)}, nil
}

// Get returns a handle to a session. The request can limit it to the newest events.
func (s *StrictService) Get(_ context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	key := strictKey{req.AppName, req.UserID, req.SessionID}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("get"); err != nil {
		return nil, err
	}
	stored := s.sessions[key]
	if stored == nil {
		return nil, fmt.Errorf("%w: %q", adk.ErrNotFound, key.id)
	}
	h := s.handle(key, stored)
	h.events = s.read(stored, req.After, req.NumRecentEvents)
	return &session.GetResponse{Session: h}, nil
}

// List returns the sessions of an app, or of one of its users, without events.
func (s *StrictService) List(_ context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("list"); err != nil {
		return nil, err
	}
	sessions := []session.Session{}
	for _, key := range s.order {
		if stored := s.sessions[key]; stored != nil && key.app == req.AppName && (req.UserID == "" || key.user == req.UserID) {
			sessions = append(sessions, s.handle(key, stored))
		}
	}
	return &session.ListResponse{Sessions: sessions}, nil
}

// Delete deletes a session. Deleting a missing session is not an error.
func (s *StrictService) Delete(_ context.Context, req *session.DeleteRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("delete"); err != nil {
		return err
	}
	key := strictKey{req.AppName, req.UserID, req.SessionID}
	if s.sessions[key] != nil {
		delete(s.sessions, key)
		s.order = without(s.order, key)
	}
	return nil
}

// AppendEvent adds an event to the handle and then to storage, as ADK's database service does. If
// storing fails, the handle shows an event that storage lacks.
func (s *StrictService) AppendEvent(_ context.Context, sess session.Session, ev *session.Event) error {
	if sess == nil || ev == nil {
		return errors.New("session and event are required")
	}
	if ev.Partial {
		return nil
	}
	ev.Timestamp = s.cut(ev.Timestamp)
	h, own := sess.(*strictSession)
	if !own && !s.opts.AcceptForeign {
		return fmt.Errorf("unexpected session type %T", sess)
	}
	seen := sess.LastUpdateTime()
	if own {
		h.append(ev)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call("append"); err != nil {
		return err
	}
	key := strictKey{sess.AppName(), sess.UserID(), sess.ID()}
	stored := s.sessions[key]
	if stored == nil {
		return fmt.Errorf("%w: %q, cannot append", adk.ErrNotFound, key.id)
	}
	if !s.opts.AcceptStale && stored.updated.UnixMicro() > seen.UnixMicro() {
		return fmt.Errorf("stale session error: the handle is of %s, storage of %s", seen, stored.updated)
	}
	if err := s.write(key, stored, ev); err != nil {
		return err
	}
	if own {
		h.setUpdated(ev.Timestamp)
	}
	return nil
}
