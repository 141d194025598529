package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"google.golang.org/adk/platform"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

const (
	// chunkSize is the size of a row of a large result in bytes, and the largest content that is
	// stored in one row. Reading 4 KiB of a result of 100 MB from such rows takes about a hundredth
	// of the time that it takes from one row (BenchmarkPartOfALargeResult).
	chunkSize = 64 << 10
	// largeLog is the size in bytes of a result after which the write-ahead log is truncated. At this
	// size SQLite copies the log into the file, with pages of 4 KiB.
	largeLog = sessionfile.AutoCheckpoint * 4096
	// maxResult is the size of the largest result in bytes: SQLite's default limit for one value
	// (SQLITE_MAX_LENGTH). With a larger one, a query could not put the rows together again.
	maxResult = 1_000_000_000

	insertBlob = `INSERT INTO tool_result_blobs (session, id, tool_name, content, byte_size, created_at)
		SELECT key, ?, ?, ?, ?, ? FROM sessions WHERE app = ? AND user = ? AND id = ?
		ON CONFLICT (session, id) DO NOTHING`
	insertChunk      = `INSERT INTO tool_result_chunks (blob, number, content) VALUES (?, ?, ?)`
	selectSessionKey = `SELECT key FROM sessions WHERE app = ? AND user = ? AND id = ?`
)

// ErrResultTooLarge marks a tool result that is too large for the session file.
var ErrResultTooLarge = errors.New("tool result is too large")

// ResultStore is a [store.Store] in a session file. Each result belongs to one session and is
// deleted with it. Two sessions never share a stored result, even if they have the same one.
//
// Results do not follow events that an app copies into another session: store them there again.
//
// An app whose events have the results whole does not need it: [store.Events] reads them from
// there. A ResultStore is safe for concurrent use, and several processes may use one file. Its zero value
// cannot be used: see [Results].
type ResultStore struct{ service *SQLiteSessionService }

var _ store.Store = (*ResultStore)(nil)

// Results returns the store of tool results in the file of a service.
func Results(s *SQLiteSessionService) *ResultStore { return &ResultStore{service: s} }

// Put stores a result, whole or not at all, as [SQLiteSessionService.AppendEvent] stores an event:
// a result for which it returned nil survives a power cut. If the session has a result with this
// reference, Put changes nothing.
//
// Errors wrap [compaction.ErrNotFound] if the session does not exist, and [ErrResultTooLarge] above
// 1,000,000,000 bytes. While the writer stores a large result, other writes wait: 100 MB take one to
// two seconds.
func (r *ResultStore) Put(ctx context.Context, owner store.Owner, tool string, result store.Result) error {
	if err := complete(owner.AppName, owner.UserID, owner.SessionID); err != nil {
		return err
	}
	if err := storable(result.Ref, len(result.Content)); err != nil {
		return err
	}
	leave, err := r.service.enter()
	if err != nil {
		return err
	}
	defer leave()
	now, _ := eventrow.FormatTime(platform.Now(ctx).UTC())
	return r.service.explain("store tool result", r.service.submit(ctx, &write{run: func(w *writer) error {
		return w.putResult(owner, tool, result, now)
	}}))
}

// storable returns an error for a result that cannot be stored.
func storable(ref string, size int) error {
	if !store.IsRef(ref) {
		return fmt.Errorf("persistence: tool result %q: not a reference: use store.ResultOf", ref)
	}
	if size > maxResult {
		return fmt.Errorf("persistence: tool result %s: %w: %d bytes, and the limit is %d: let the tool write it to a file", ref, ErrResultTooLarge, size, maxResult)
	}
	return nil
}

// putResult runs one Put inside the transaction.
func (w *writer) putResult(owner store.Owner, tool string, result store.Result, now string) error {
	large := len(result.Content) > chunkSize
	var content any
	if !large {
		content = []byte(result.Content)
	}
	ctx := context.Background()
	stored, err := w.addBlob.ExecContext(ctx, result.Ref, tool, content, len(result.Content), now, owner.AppName, owner.UserID, owner.SessionID)
	if err != nil {
		return err
	}
	if n, err := stored.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, w.hasSession(owner))
	}
	w.unmarked += 2 * len(result.Content) / chunkSize // 64 KiB fill as much of the log as two writes may
	if !large {
		return nil
	}
	if len(result.Content) > largeLog {
		w.eraser.grown()
	}
	blob, err := stored.LastInsertId()
	if err != nil {
		return err
	}
	for number, rest := 0, result.Content; rest != ""; number++ {
		size := min(chunkSize, len(rest))
		if err := w.do(w.addChunk, blob, number, []byte(rest[:size])); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}

// hasSession returns an error if a session does not exist.
func (w *writer) hasSession(owner store.Owner) error {
	var key int64
	err := w.findSession.QueryRowContext(context.Background(), owner.AppName, owner.UserID, owner.SessionID).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %q, cannot store tool result", adk.ErrNotFound, owner.SessionID)
	}
	return err
}
