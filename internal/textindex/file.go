// Package textindex finds the events of a session file by their words: the tables search and search_*, which
// docs/schema.md describes. Package index analyzes and ranks.
package textindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
)

// File is a session file, as its index needs it.
type File interface {
	// Read calls do with a reader of one state of the file.
	Read(ctx context.Context, do func(*Reader) error) error
	// Write calls do in a transaction, which is committed unless do fails.
	Write(ctx context.Context, do func(*Writer) error) error
	// Writes reports whether the file was opened for writing.
	Writes() bool
}

// Reader reads the index on one connection. Its methods need a transaction.
type Reader struct {
	*sessionfile.Statements
	search searchStatements
}

// NewReader returns a reader on a connection. It prepares its statements at the first use.
func NewReader(on *sessionfile.Statements) *Reader { return &Reader{Statements: on} }

// Writer writes the index on one connection. Its methods need a transaction.
type Writer struct {
	*sessionfile.Statements
	// Large reports whether the transaction makes the write-ahead log much larger than usual.
	Large bool
	index indexStatements
}

// NewWriter returns a writer on a connection. It prepares its statements at the first use.
func NewWriter(on *sessionfile.Statements) *Writer { return &Writer{Statements: on} }

// run runs a statement, and returns how many rows it changed. It uses no context of a caller, because a transaction
// that began must end.
func run(stmt *sql.Stmt, args ...any) (int64, error) {
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Index searches the sessions of a file by words. It is safe for concurrent use.
type Index struct {
	file File
	// memory searches sessions that the index of the file cannot answer for.
	memory func() *wordsearch.Memory
}

// New returns the index of a file, which is made as sessions are searched.
func New(file File) *Index {
	return &Index{file: file, memory: sync.OnceValue(func() *wordsearch.Memory { return wordsearch.NewMemory(0) })}
}

// Update takes the events of a session into the index, up to the newest one that a compaction record covers. redact is
// as [index.Query] has it.
func (x *Index) Update(ctx context.Context, req *session.GetRequest, redact func(string) string) error {
	return (&indexer{x, req, redact}).catchUp(ctx, true)
}

// Forget forgets what is kept in memory of a session.
func (x *Index) Forget(key adk.SessionRef) { x.memory().Forget(key) }

// KeptBytes is about how many bytes are kept in memory of sessions.
func (x *Index) KeptBytes() int { return x.memory().Bytes() }

// Empty empties the index of all sessions, because it is damaged. Searches make it anew.
func (x *Index) Empty(ctx context.Context) error {
	return x.file.Write(ctx, func(w *Writer) error {
		w.Large = true
		for _, statement := range []string{`INSERT INTO search (search) VALUES ('delete-all')`, `DELETE FROM search_terms`, `DELETE FROM search_sessions`} {
			if _, err := w.Conn.ExecContext(context.Background(), statement); err != nil {
				return err
			}
		}
		return nil
	})
}

const selectSession = `SELECT key, last_seq FROM sessions WHERE app = ? AND user = ? AND id = ?`

// find returns the key of a session, and how many events it has.
func find(ctx context.Context, conn *sql.Conn, req *session.GetRequest) (key, events int64, err error) {
	err = conn.QueryRowContext(ctx, selectSession, req.AppName, req.UserID, req.SessionID).Scan(&key, &events)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: %q", adk.ErrNotFound, req.SessionID)
	}
	return key, events, err
}

// resultCode returns the primary result code of SQLite that an error has, 0 if it has none.
func resultCode(err error) int {
	var coded interface {
		error
		Code() int
	}
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code() & 0xff
}

// IsDamage reports whether the file's data structures are the cause of an error.
func IsDamage(err error) bool { return resultCode(err) == 11 }
