package persistence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"
)

// Snapshot is one state of a session file, for questions that a session service cannot answer. It
// is not safe for concurrent use, and is valid only until the function that received it returns.
type Snapshot struct {
	conn *sql.Conn
	r    *reader // nil until a session is loaded, so that a file with a damaged schema can be queried too
}

// Snapshot calls do with the current state of the file, and returns the error of do. The service
// must have been opened with [WithReadOnly].
func (s *SQLiteSessionService) Snapshot(ctx context.Context, do func(*Snapshot) error) error {
	if s.readOnly == nil {
		return fmt.Errorf("persistence: %s: snapshot: open the file with WithReadOnly, so that no query can write", s.name)
	}
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	err = ended(ctx, readSnapshot(ctx, s.db, s.busy, do))
	// If the file changed, that is the cause of any other error.
	if changed := s.readOnly.check(); changed != nil {
		err = changed
	}
	return s.explain("read", err)
}

// readSnapshot calls do with the current state of a database.
func readSnapshot(ctx context.Context, db *sql.DB, busy time.Duration, do func(*Snapshot) error) (err error) {
	conn, err := readingConn(ctx, db, busy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// As in every reading, BEGIN and ROLLBACK do not use ctx.
	if _, err := conn.ExecContext(context.Background(), "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if _, endErr := conn.ExecContext(context.Background(), "ROLLBACK"); endErr != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool drops it
		}
	}()
	snap := &Snapshot{conn: conn}
	defer func() {
		if snap.r != nil {
			err = errors.Join(err, snap.r.Statements.Close())
		}
	}()
	return do(snap)
}

// GetActive is [SQLiteSessionService.GetActive] for this state.
func (s *Snapshot) GetActive(ctx context.Context, req *session.GetRequest) (_ *session.GetResponse, err error) {
	if err := complete(req.AppName, req.UserID, req.SessionID); err != nil {
		return nil, err
	}
	if s.r == nil {
		if s.r, err = newReader(ctx, s.conn); err != nil {
			return nil, err
		}
	}
	sess, size, err := s.r.find(ctx, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	found := &ActiveSession{storedSession: sess, stored: size.events}
	if err := s.r.loadActive(ctx, found, size); err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: found}, nil
}

// Query runs a SQL query. Close the rows before do returns.
func (s *Snapshot) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return s.conn.QueryContext(ctx, query, args...)
}
