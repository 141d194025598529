package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/textindex"
)

const (
	selectSession  = `SELECT key, updated_at, last_seq, contested FROM sessions WHERE app = ? AND user = ? AND id = ?`
	selectSessions = `SELECT key, user, id, updated_at FROM sessions WHERE app = ?1 AND (user = ?2 OR ?2 = '') ORDER BY user, id`
	selectEvents   = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? ORDER BY seq`
	// selectRecords has the records that can be read.
	selectRecords = `SELECT ` + eventrow.Columns + ` FROM events INDEXED BY events_records WHERE session = ? AND record_id > '' ORDER BY seq`
	// selectNewest has the newest events first. The parameters are a session, the earliest time and
	// a limit.
	selectNewest = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? AND time >= ? ORDER BY seq DESC LIMIT ?`
)

// reader is a connection for reading, with its statements.
type reader struct {
	sessionfile.Statements
	begin, end                   *sql.Stmt
	session, sessions            *sql.Stmt
	sessionState, events, newest *sql.Stmt
	active, overtaking, page     *sql.Stmt
	records                      *sql.Stmt
	results                      resultStatements
	text                         *textindex.Reader
}

// newReader prepares the statements of a reader on a connection.
func newReader(ctx context.Context, conn *sql.Conn) (*reader, error) {
	r := &reader{Statements: sessionfile.Statements{Conn: conn}}
	r.text = textindex.NewReader(&r.Statements)
	err := r.Prepare(ctx, map[string]**sql.Stmt{
		"BEGIN":          &r.begin,
		"ROLLBACK":       &r.end,
		selectSession:    &r.session,
		selectSessions:   &r.sessions,
		selectState:      &r.sessionState,
		selectEvents:     &r.events,
		selectNewest:     &r.newest,
		selectActive:     &r.active,
		selectOvertaking: &r.overtaking,
		selectPage:       &r.page,
		selectRecords:    &r.records,
	})
	if err != nil {
		return nil, errors.Join(err, r.Statements.Close())
	}
	return r, nil
}

// readingConn returns a connection that cannot write.
func readingConn(ctx context.Context, db *sql.DB, busy time.Duration) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	err = sessionfile.Pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", busy.Milliseconds()), "query_only = ON")
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// openReader returns a reader on a connection of its own.
func openReader(ctx context.Context, db *sql.DB, busy time.Duration) (*reader, error) {
	conn, err := readingConn(ctx, db, busy)
	if err != nil {
		return nil, err
	}
	r, err := newReader(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return r, nil
}

// close closes the statements, and returns the connection to its pool if it is the reader's own.
func (r *reader) close(own bool) error {
	err := r.Statements.Close()
	if !own {
		return err
	}
	return errors.Join(err, sessionfile.Pragmas(context.Background(), r.Conn, "query_only = OFF"), r.Conn.Close())
}

// read calls do with a reader, in one transaction, so that do sees one state of the database. If
// the file was moved or changed, read returns that error instead of any other, because the result
// is not that of the file at the path.
func (s *SQLiteSessionService) read(ctx context.Context, do func(*reader) error) error {
	err := ended(ctx, s.readState(ctx, do))
	if changed := unchanged(s); changed != nil && ctx.Err() == nil {
		return changed
	}
	return err
}

// readSession calls do with the session of a request, without its events, in one transaction. doing names the call in
// errors.
func readSession(ctx context.Context, s *SQLiteSessionService, doing string, req *session.GetRequest, do func(*reader, *storedSession, size) error) error {
	leave, err := enterSession(s, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return err
	}
	defer leave()
	return s.explain(doing, s.read(ctx, func(r *reader) error {
		found, of, err := r.find(ctx, req.AppName, req.UserID, req.SessionID)
		if err != nil {
			return err
		}
		return do(r, found, of)
	}))
}

// unchanged returns an error if the file is no longer the one that was opened.
func unchanged(s *SQLiteSessionService) error {
	if s.readOnly != nil {
		return s.readOnly.check()
	}
	return s.place.Check()
}

// readState takes a reader from the pool, or opens one, and calls do in a transaction.
func (s *SQLiteSessionService) readState(ctx context.Context, do func(*reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var r *reader
	select {
	case r = <-s.pool:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.pool <- r }()
	if r == nil {
		opened, err := openReader(ctx, s.db, s.busy)
		if err != nil {
			return err
		}
		r = opened
	}
	// BEGIN and ROLLBACK do not use ctx: when ctx ends, the driver may report that a statement was
	// interrupted although it has taken effect.
	if _, err := r.begin.ExecContext(context.Background()); err != nil {
		return err
	}
	// The transaction also ends if do panics: it calls functions of the app's, and the next reader needs the connection.
	defer func() {
		if _, endErr := r.end.ExecContext(context.Background()); endErr != nil && !s.single {
			_ = r.close(true)
			r = nil
		}
	}()
	return do(r)
}

// size is what a reader must know of a session before it loads events.
type size struct {
	events     int
	conflicted bool // covered_by is not exact, see markCovered
}

// find returns a session without its events, and its size.
func (r *reader) find(ctx context.Context, app, user, id string) (*storedSession, size, error) {
	found := &storedSession{app: app, user: user, id: id}
	var updated string
	var of size
	err := r.session.QueryRowContext(ctx, app, user, id).Scan(&found.key, &updated, &of.events, &of.conflicted)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, size{}, fmt.Errorf("%w: %q", adk.ErrNotFound, id)
	}
	if err != nil {
		return nil, size{}, err
	}
	return found, of, r.complete(ctx, found, updated)
}

// complete adds the time of the last update and the state.
func (r *reader) complete(ctx context.Context, found *storedSession, updated string) (err error) {
	if found.updatedAt, err = eventrow.ParseTime(updated, nil); err != nil {
		return err
	}
	found.state, err = readState(ctx, r.sessionState, found.key, found.app, found.user)
	return err
}

// load returns the events that a request asks for, in order.
func (r *reader) load(ctx context.Context, key int64, count int, req *session.GetRequest) ([]*session.Event, error) {
	if req.NumRecentEvents <= 0 && req.After.IsZero() {
		rows, err := r.events.QueryContext(ctx, key)
		return eventrow.Scan(rows, err, count, nil)
	}
	limit, after := -1, "" // all events; "" sorts before every time
	if req.NumRecentEvents > 0 {
		limit = req.NumRecentEvents
	}
	if !req.After.IsZero() {
		after, _ = eventrow.FormatTime(req.After)
	}
	rows, err := r.newest.QueryContext(ctx, key, after, limit)
	loaded, err := eventrow.Scan(rows, err, min(count, max(limit, 0)), nil)
	slices.Reverse(loaded)
	return loaded, err
}
