package persistence

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

const (
	selectBlob = `SELECT b.key, b.content, b.byte_size FROM sessions s JOIN tool_result_blobs b ON b.session = s.key
		WHERE s.app = ? AND s.user = ? AND s.id = ? AND b.id = ?`
	selectBlobKey = `SELECT 1 FROM tool_result_blobs WHERE key = ?`
	selectChunks  = `SELECT number, content FROM tool_result_chunks WHERE blob = ? AND number BETWEEN ? AND ? ORDER BY number`
)

// resultStatements read results. They are prepared at the first use, because a file that was opened
// for reading only can be older than the tables.
type resultStatements struct{ blob, blobKey, chunks *sql.Stmt }

// resultsVersion is the version of the schema that has tool results.
const resultsVersion = 3

// Open returns a reader of a stored result and its length in bytes, as [store.Source] describes it.
// A reader of a large result reads only the rows that it needs, in a transaction for each ReadAt. It
// holds nothing open, so nobody has to close it. After its session was deleted, its errors wrap
// [store.ErrUnknownRef], and after Close of the service, [ErrClosed].
//
// ctx ends Open, and no later reading.
func (r *ResultStore) Open(ctx context.Context, owner store.Owner, ref string) (io.ReaderAt, int64, error) {
	leave, err := r.service.enter()
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	if !store.IsRef(ref) {
		return nil, 0, store.ErrUnknownRef
	}
	found := &storedResult{service: r.service}
	var content []byte
	err = r.service.read(ctx, func(rd *reader) error {
		if err := rd.prepareResults(ctx); err != nil {
			return err
		}
		err := rd.results.blob.QueryRowContext(ctx, owner.AppName, owner.UserID, owner.SessionID, ref).Scan(&found.key, &content, &found.size)
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrUnknownRef
		}
		return err
	})
	if err != nil {
		return nil, 0, r.service.explain("open tool result", err)
	}
	if found.size > chunkSize {
		return found, found.size, nil
	}
	if int64(len(content)) != found.size {
		return nil, 0, r.service.explain("open tool result", fmt.Errorf("%s has %d bytes instead of %d: the row was changed: restore a backup", ref, len(content), found.size))
	}
	return bytes.NewReader(content), found.size, nil
}

// prepareResults prepares the statements for results, unless they are prepared. It returns
// [store.ErrUnknownRef] if the file is older than the tables.
func (r *reader) prepareResults(ctx context.Context) error {
	if r.results.chunks != nil {
		return nil
	}
	var version int
	if err := r.Conn.QueryRowContext(ctx, "SELECT user_version FROM pragma_user_version").Scan(&version); err != nil {
		return err
	}
	if version < resultsVersion {
		return store.ErrUnknownRef
	}
	var prepared resultStatements
	err := r.Prepare(ctx, map[string]**sql.Stmt{selectBlob: &prepared.blob, selectBlobKey: &prepared.blobKey, selectChunks: &prepared.chunks})
	if err == nil {
		r.results = prepared
	}
	return err
}

// storedResult reads a large result. Rows of a result never change, and no later result gets its key,
// so it needs no transaction around several readings.
type storedResult struct {
	service   *SQLiteSessionService
	key, size int64
}

// ReadAt implements [io.ReaderAt].
func (r *storedResult) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("persistence: read tool result at %d: the offset is negative", off)
	}
	wanted := p[:min(int64(len(p)), max(0, r.size-off))]
	if len(wanted) > 0 {
		leave, err := r.service.enter()
		if err != nil {
			return 0, err
		}
		defer leave()
		err = r.service.read(context.Background(), func(rd *reader) error { return rd.readResult(r.key, wanted, off) })
		if err != nil {
			return 0, r.service.explain("read tool result", err)
		}
	}
	if len(wanted) < len(p) {
		return len(wanted), io.EOF
	}
	return len(wanted), nil
}

// readResult fills p with the bytes of a large result at an offset.
func (r *reader) readResult(key int64, p []byte, off int64) (err error) {
	ctx := context.Background()
	if err := r.prepareResults(ctx); err != nil {
		return err
	}
	next, last := off/chunkSize, (off+int64(len(p))-1)/chunkSize
	rows, err := r.results.chunks.QueryContext(ctx, key, next, last)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	skip := off % chunkSize
	for ; rows.Next(); next++ {
		var number int64
		var content sql.RawBytes
		if err := rows.Scan(&number, &content); err != nil {
			return err
		}
		want := skip + min(int64(len(p)), chunkSize-skip)
		if number != next || int64(len(content)) < want {
			return damagedChunk(next)
		}
		p, skip = p[copy(p, content[skip:want]):], 0
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(p) == 0 {
		return nil
	}
	var exists int
	if err := r.results.blobKey.QueryRowContext(ctx, key).Scan(&exists); errors.Is(err, sql.ErrNoRows) {
		return store.ErrUnknownRef
	} else if err != nil {
		return err
	}
	return damagedChunk(next)
}

func damagedChunk(number int64) error {
	return fmt.Errorf("row %d of tool_result_chunks is missing or too short: restore a backup", number)
}
