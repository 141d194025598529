package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/textindex"
)

// memory is the path of a database in memory, which lasts as long as its service.
const memory = ":memory:"

// readers is how many reads run at once. More would not help, because the processor is the limit of
// SQLite's reads.
const readers = 4

// SQLiteSessionService is a [session.Service] on one SQLite file. It is safe for concurrent use,
// and services in several processes may share a file. Close it after use.
type SQLiteSessionService struct {
	name string // of the file, for errors
	full string // its path, "" for a database in memory
	db   *sql.DB
	owns bool

	writer *writer
	queue  chan *write
	done   chan struct{} // closed when the writer has ended

	// pool has the connections for reading, nil for each that is not open yet. If the database has
	// a single connection, it is here, and the writer takes it for each batch.
	pool   chan *reader
	single bool
	busy   time.Duration
	// place is nil for a database in memory, and for a read-only service.
	place *sessionfile.Place
	// readOnly is nil for a service that writes. A read-only service has no writer, queue and done.
	readOnly *readOnly

	text *textindex.Index

	// background erases the rest of deleted sessions, while finishing.
	background sync.WaitGroup
	finishing  atomic.Bool

	// Every call holds a read lock on closing, so Close waits for running calls.
	closing sync.RWMutex
	closed  bool
}

var _ session.Service = (*SQLiteSessionService)(nil)

// NewSQLiteSessionService opens the session file at path, and creates it if it does not exist. Its
// folder must exist. The path ":memory:" keeps everything in memory until Close. URIs ("file:...")
// are refused.
//
// A file of an older version of this package is brought up to date. Unusable files are refused and
// not changed. Errors wrap
//
//   - [ErrForeignFile] for a file that is not a session file,
//   - [ErrNewerSchema] for a file of a newer version of this package,
//   - [ErrTruncated] for a file that is too short,
//   - [ErrLogMissing] for a file that was copied without its -wal.
//
// If the file is moved, deleted or replaced later, calls return errors wrapping [ErrMoved].
func NewSQLiteSessionService(path string, opts ...Option) (*SQLiteSessionService, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	s := &SQLiteSessionService{name: path, db: o.db, owns: o.db == nil, busy: o.busy}
	s.text = textindex.New(indexedFile{s})
	if err := openDB(s, path, o); err != nil {
		return nil, err
	}
	start := s.start
	if o.readOnly {
		start = s.startReading
	}
	if err := start(context.Background(), o); err != nil {
		return nil, errors.Join(err, closeDB(s))
	}
	return s, nil
}

// openDB checks the path and opens the database, without running a statement on it.
func openDB(s *SQLiteSessionService, path string, o options) error {
	switch {
	case !s.owns && path != "":
		return fmt.Errorf("persistence: path %q and WithDB: use only one of them", path)
	case !s.owns:
		s.name = "the caller's database"
		return nil
	}
	if err := checkPath(path); err != nil {
		return err
	}
	if o.readOnly {
		return s.openReadOnly(path)
	}
	source := path
	if path != memory {
		full, err := filepath.Abs(path)
		if err != nil {
			return fmt.Errorf("persistence: %s: %w", path, err)
		}
		found, err := sessionfile.Found(full)
		if err != nil {
			return fmt.Errorf("persistence: %s: %w", full, err)
		}
		if found {
			if err := sessionfile.Inspect(full, s.busy); err != nil {
				return explain(full, "open", err)
			}
		}
		if err := sessionfile.Make(full); err != nil {
			return fmt.Errorf("persistence: %s: %w", full, err)
		}
		source = sessionfile.Source(full, "rw")
		s.full = full
	}
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return explain(path, "open", err)
	}
	s.db = db
	return nil
}

// start brings the schema up to date and starts the writer.
func (s *SQLiteSessionService) start(ctx context.Context, o options) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain("open", err)
	}
	inMemory, err := s.prepare(ctx, conn, o)
	if err != nil {
		return errors.Join(s.explain("open", err), conn.Close())
	}
	unfinished := false
	if err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM erasing)").Scan(&unfinished); err != nil {
		return errors.Join(s.explain("open", err), conn.Close())
	}
	if s.writer, err = newWriter(ctx, conn, o.busy); err != nil {
		return errors.Join(s.explain("open", err), conn.Close())
	}
	if !inMemory {
		if s.place, err = sessionfile.PlaceOf(s.full); err != nil {
			return errors.Join(s.explain("open", err), s.writer.close())
		}
		s.writer.keepsLog = true
		s.writer.markLog()
	}
	limit := s.db.Stats().MaxOpenConnections
	s.single = inMemory || limit == 1
	size := readers
	if limit > 1 {
		size = min(size, limit-1)
	}
	if s.single {
		size = 1
	}
	s.pool = make(chan *reader, size)
	for range size {
		s.pool <- nil
	}
	if s.single {
		<-s.pool
		r, err := newReader(ctx, conn)
		if err != nil {
			return errors.Join(s.explain("open", err), s.writer.close())
		}
		s.pool <- r
	}
	s.queue, s.done = make(chan *write, maxBatch), make(chan struct{})
	go s.serve()
	if unfinished {
		remover{s}.finishLater()
	}
	return nil
}

// prepare configures the writing connection and brings the schema up to date.
func (s *SQLiteSessionService) prepare(ctx context.Context, conn *sql.Conn, o options) (inMemory bool, err error) {
	if err := sessionfile.Pragmas(ctx, conn, fmt.Sprintf("busy_timeout = %d", o.busy.Milliseconds())); err != nil {
		return false, err
	}
	var file string
	if err := conn.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file); err != nil {
		return false, err
	}
	inMemory = file == ""
	if !s.owns && !inMemory {
		s.name, s.full = file, file
	}
	if _, err := sessionfile.CheckOwner(ctx, conn); err != nil {
		return false, err
	}
	deadline := time.Now().Add(o.busy)
	if !inMemory {
		if err := sessionfile.UseWAL(ctx, conn, deadline); err != nil {
			return false, err
		}
	}
	err = sessionfile.Pragmas(ctx, conn, "foreign_keys = ON", "secure_delete = ON", "synchronous = "+o.synchronous, fmt.Sprintf("wal_autocheckpoint = %d", sessionfile.AutoCheckpoint))
	if err != nil {
		return false, err
	}
	var overwrites bool
	if err := conn.QueryRowContext(ctx, "PRAGMA secure_delete").Scan(&overwrites); err != nil || !overwrites {
		return false, errors.Join(err, errors.New("the driver does not let SQLite overwrite deleted data (PRAGMA secure_delete)"))
	}
	return inMemory, sessionfile.Migrate(ctx, conn, deadline)
}

// Close waits for running calls, ends the writer and closes the file. Later calls return errors
// wrapping [ErrClosed]. A database of [WithDB] stays open. A second Close has no effect and returns
// nil.
func (s *SQLiteSessionService) Close() error {
	defer s.background.Wait() // behind the unlocking
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.writer != nil {
		close(s.queue)
		<-s.done
	}
	var errs []error
	for range cap(s.pool) {
		if r := <-s.pool; r != nil {
			errs = append(errs, r.close(!s.single))
		}
	}
	if s.writer != nil {
		if s.writer.keepsLog && s.place.Check() == nil {
			errs = append(errs, s.writer.unmarkLog())
		}
		errs = append(errs, s.writer.close())
	}
	errs = append(errs, closeDB(s))
	return s.explain("close", errors.Join(errs...))
}

// closeDB closes the database, unless it is the caller's.
func closeDB(s *SQLiteSessionService) error {
	if !s.owns {
		return nil
	}
	return s.db.Close()
}

// enter keeps the service open until the caller calls leave.
func (s *SQLiteSessionService) enter() (leave func(), err error) {
	s.closing.RLock()
	if s.closed {
		s.closing.RUnlock()
		return nil, fmt.Errorf("persistence: %s: %w", s.name, ErrClosed)
	}
	return s.closing.RUnlock, nil
}

// enterSession is enter for a call on a session, which has to be fully named.
func enterSession(s *SQLiteSessionService, app, user, id string) (leave func(), err error) {
	if err := complete(app, user, id); err != nil {
		return nil, err
	}
	return s.enter()
}
