package persistence

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/ids"
)

const (
	insertSession = `INSERT INTO sessions (app, user, id, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
		ON CONFLICT (app, user, id) DO NOTHING`
	deleteSession = `DELETE FROM sessions WHERE app = ? AND user = ? AND id = ?`
)

// Create stores a new session. State keys with the prefixes "app:" and "user:" become state of the
// app and of the user, and keys with "temp:" are dropped. Without a session ID, the session gets
// one. An existing session is refused with [ErrSessionExists].
func (s *SQLiteSessionService) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	if req.AppName == "" || req.UserID == "" {
		return nil, fmt.Errorf("app_name and user_id are required, got app_name: %q, user_id: %q", req.AppName, req.UserID)
	}
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	created := &storedSession{app: req.AppName, user: req.UserID, id: req.SessionID, updatedAt: platform.Now(ctx).UTC()}
	if created.id == "" {
		created.id = ids.New(ctx)
	}
	values, err := stateValues(req.State)
	if err != nil {
		return nil, s.explain("create session", err)
	}
	now, _ := eventrow.FormatTime(created.updatedAt)
	err = s.submit(ctx, &write{run: func(w *writer) error {
		result, err := w.addSession.ExecContext(context.Background(), created.app, created.user, created.id, now)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); n == 0 || err != nil {
			return errors.Join(err, fmt.Errorf("%w: %q", ErrSessionExists, created.id))
		}
		if created.key, err = result.LastInsertId(); err != nil {
			return err
		}
		if err := w.setState(created.key, created.app, created.user, values); err != nil {
			return err
		}
		created.state, err = readState(context.Background(), w.sessionState, created.key, created.app, created.user)
		return err
	}})
	if err != nil {
		return nil, s.explain("create session", err)
	}
	return &session.CreateResponse{Session: created}, nil
}

// Get reads a session with its events, in the order in which they were committed. After leaves out
// events with an older timestamp, and NumRecentEvents keeps only the newest of the rest. Errors
// wrap [compaction.ErrNotFound] if there is no such session.
func (s *SQLiteSessionService) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	var found *storedSession
	err := readSession(ctx, s, "get session", req, func(r *reader, sess *storedSession, of size) (err error) {
		found = sess
		found.events, err = r.load(ctx, found.key, of.events, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: found}, nil
}

// List returns the sessions of an app, or of one of its users, without events. They are sorted by
// user and ID.
func (s *SQLiteSessionService) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	if req.AppName == "" {
		return nil, fmt.Errorf("app_name is required, got app_name: %q", req.AppName)
	}
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	listed := []session.Session{}
	err = s.read(ctx, func(r *reader) error {
		rows, err := r.sessions.QueryContext(ctx, req.AppName, req.UserID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			one := &storedSession{app: req.AppName}
			var updated string
			if err := rows.Scan(&one.key, &one.user, &one.id, &updated); err != nil {
				return err
			}
			if err := r.complete(ctx, one, updated); err != nil {
				return err
			}
			listed = append(listed, one)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, s.explain("list sessions", err)
	}
	return &session.ListResponse{Sessions: listed}, nil
}

// Delete removes a session with its events and its state. The state of its user and its app
// remains. Deleting a session that does not exist is not an error.
//
// A session of more than 256 events is deleted in portions, between which others can write. Nobody sees it from the
// first one on. If ctx ends meanwhile, Delete returns its error, and the rest is erased in the background; after a
// crash, the next service that opens the file does that.
//
// SQLite overwrites the text in the file at once, and in the write-ahead log as soon as no other
// connection is reading from it. Delete cannot reach backups, or copies that the file system keeps
// of overwritten blocks.
func (s *SQLiteSessionService) Delete(ctx context.Context, req *session.DeleteRequest) error {
	leave, err := enterSession(s, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return err
	}
	defer leave()
	defer s.text.Forget(adk.SessionRef{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID})
	return s.explain("delete session", remover{s}.remove(ctx, req))
}

// complete returns an error unless a session is fully named.
func complete(app, user, id string) error {
	if app == "" || user == "" || id == "" {
		return fmt.Errorf("app_name, user_id, session_id are required, got app_name: %q, user_id: %q, session_id: %q", app, user, id)
	}
	return nil
}
