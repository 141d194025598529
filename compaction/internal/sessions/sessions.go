// Package sessions has what a compaction service knows about sessions: the handles that it gave
// out, the views that these show, and the state that all handles of a session share.
//
//	Sessions   one for each service   finds states, reads sessions, makes and finds handles
//	State      one for each session   locks, the line of jobs, drafts, what was learned, new records
//	Handle     one for each Get       a view, kept up to date by appends and by records of others
//
// A state is garbage once no handle and no job uses it. A process that has served a million
// sessions keeps the states in use, and at most 1,024 others that have something to remember.
package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"
	"weak"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/view"
)

// Sessions are those of one service, safe for concurrent use.
type Sessions struct {
	Inner session.Service

	known    *registry
	retained *retained
	views    *viewCache
	cutter   *cutter
	fits     bool // Hooks.Fits
}

// Hooks are functions of the app. Each may be nil.
type Hooks struct {
	// Cut returns the form in which views show an event.
	Cut Cut
	// Fixed is compaction.Config.Fixed.
	Fixed func(ref adk.SessionRef, agent, branch string) int
	// Shows is what views show besides what is stored, and Fits is compaction.Config.Fits.
	Shows view.Options
	Fits  bool
}

// New returns the sessions of an inner service. The state of each begins with the limits.
func New(inner session.Service, limits *meter.Limits, hooks Hooks) *Sessions {
	return &Sessions{
		Inner: inner, retained: newRetained(), views: newViewCache(hooks.Shows), cutter: newCutter(hooks.Cut), fits: hooks.Fits,
		known: &registry{limits: limits, fixed: hooks.Fixed, byRef: map[adk.SessionRef]weak.Pointer[State]{}},
	}
}

// Of returns the state of a session, making it if need be.
func (s *Sessions) Of(ref adk.SessionRef) *State { return s.known.of(ref) }

// WithDrafts returns the states of all sessions that have waiting drafts.
func (s *Sessions) WithDrafts() []*State {
	return slices.DeleteFunc(s.known.all(), func(st *State) bool { return len(st.Waiting.All()) == 0 })
}

// Remember keeps a state alive while it has something to remember. If it had to drop another state
// to make room, it returns that one, else nil. It must be called after each change.
func (s *Sessions) Remember(st *State) (givenUp *State) { return s.retained.update(st) }

// Drop makes a deleted session's state unreachable, so that a session that is created again under
// the same ID starts with a new one. Drafts in the old state can still be reported.
func (s *Sessions) Drop(ref adk.SessionRef) {
	s.views.forget(ref)
	if st := s.known.remove(ref); st != nil {
		st.Waiting.Close()
		s.retained.forget(st)
	}
}

// Get reads a session and returns it with the service's layer around it. The filters of the request
// apply to the view. Errors are those of [Sessions.Load].
func (s *Sessions) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	// The cursor comes first: a record stored while the events are read is seen twice, not missed.
	st := s.Of(adk.SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	c := st.news.open()
	var h *Handle
	defer func() {
		if h == nil { // also where the inner service panics
			st.news.close(c)
		}
	}()
	whole := *req
	whole.NumRecentEvents, whole.After = 0, time.Time{}
	resp, err := s.Load(ctx, &whole)
	if err != nil {
		return resp, err
	}
	h = s.newHandle(st, c, resp.Session)
	h.recent.Store(int64(max(0, req.NumRecentEvents)))
	h.after = req.After
	return &session.GetResponse{Session: filtered.NewSession(resp.Session, h)}, nil
}

// Handle reads a session into a handle of its own.
func (s *Sessions) Handle(ctx context.Context, ref adk.SessionRef) (*Handle, error) {
	resp, err := s.Get(ctx, ref.Request())
	if err != nil {
		return nil, err
	}
	_, h := s.Peel(resp.Session)
	return h, nil
}

// Wrap puts the service's layer around a session of the inner service. listed says that the session
// comes from List, without its events.
func (s *Sessions) Wrap(sess session.Session, listed bool) session.Session {
	st := s.Of(adk.RefOf(sess))
	h := s.newHandle(st, st.news.open(), sess)
	h.Listed = listed
	return filtered.NewSession(sess, h)
}

func (s *Sessions) newHandle(st *State, c *cursor, sess session.Session) *Handle {
	h := &Handle{owner: s, State: st, Inner: sess, cursor: c}
	v, partial := s.ViewOf(st.Ref, sess)
	h.View, h.Meter = v, meter.New(v, st.Prompts)
	if partial != nil {
		h.partial = &partialLoad{
			loaded: partial, unloaded: max(0, partial.StoredEvents()-len(v.Raw())),
			called: map[adk.CallKey]bool{}, restored: map[string]bool{},
		}
	}
	st.closeWith(h, c)
	return h
}

// maxLayers bounds how far a chain of decorators is followed: one that unwraps to itself must not
// hang a turn.
const maxLayers = 64

// Peel finds the service's own layer in a session, and returns the session directly below it and
// the layer's handle. There may be other decorators above and below, ADK's own included. A session
// without such a layer is returned unchanged, with a nil handle.
func (s *Sessions) Peel(sess session.Session) (session.Session, *Handle) {
	layer := sess
	for range maxLayers {
		if own, ok := layer.(*filtered.FilteredSession); ok {
			if h, ok := own.Source().(*Handle); ok && h.owner == s {
				return own.Unwrap(), h
			}
		}
		if layer = below(layer); layer == nil {
			break
		}
	}
	return sess, nil
}

// below returns the session directly below a decorator, nil if the session is none.
func below(layer session.Session) session.Session {
	if wrapper, ok := layer.(interface{ Unwrap() session.Session }); ok {
		return wrapper.Unwrap()
	}
	return adk.Inner(layer)
}

// Load reads a session from the inner service, as much of it as views need. Errors are those of [Sessions.Read].
func (s *Sessions) Load(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if partial, ok := s.Inner.(PartialService); ok {
		resp, err := partial.GetActive(ctx, req)
		return found(req, resp, err)
	}
	return s.Read(ctx, req)
}

// Read reads a session from the inner service as the request says. Errors are the inner service's, or say that it
// returned no session, also where that is a nil pointer.
func (s *Sessions) Read(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	resp, err := s.Inner.Get(ctx, req)
	return found(req, resp, err)
}

// found makes a response without a session an error.
func found(req *session.GetRequest, resp *session.GetResponse, err error) (*session.GetResponse, error) {
	if err == nil && (resp == nil || adk.IsNil(resp.Session)) {
		return nil, fmt.Errorf("inner service returned no session for %q: %w", req.SessionID, adk.ErrNotFound)
	}
	return resp, err
}

// ViewOf makes the view of a session that was loaded. The session is returned too if events of it
// are still in storage.
func (s *Sessions) ViewOf(ref adk.SessionRef, sess session.Session) (*view.View, PartialSession) {
	if partial, ok := sess.(PartialSession); ok && partial.Partial() {
		return s.views.options.NewPartial(view.Collect(sess.Events()), unloadedOf(partial)).Through(s.cutter.of(ref)), partial
	}
	return s.views.view(ref, sess.Events(), s.cutter.of(ref)), nil
}
