package store

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrUnknownRef is the answer to every reference that names no result of the session: it never
// existed, belongs to another session, or is malformed. The three cases have the same answer.
var ErrUnknownRef = errors.New("no result with this ref_id in this session")

// Source opens whole results. It must be safe for concurrent use.
type Source interface {
	// Open returns a reader of a result's content, and the content's length in bytes. If the reader
	// is an [io.Closer], the caller closes it. Errors wrap [ErrUnknownRef] if the session has no
	// such result.
	Open(ctx context.Context, owner Owner, ref string) (io.ReaderAt, int64, error)
}

// Store is a Source that takes results in. A result lives as long as its session.
type Store interface {
	Source
	// Put stores a result of the named tool under result.Ref. Storing a result again has
	// no effect. If Put returns an error, the result is not stored.
	Put(ctx context.Context, owner Owner, tool string, result Result) error
}

// QuotaError is the error of a store that has no room for a result. A store never deletes a result to make
// room, because the model may still refer to it.
type QuotaError struct {
	// Size, Used and Max are bytes: of the refused result, of what is stored, and the most that may be.
	Size, Used, Max int64
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("a result of %d bytes does not fit: %d of %d bytes are used; drop sessions that are over, or raise the limit", e.Size, e.Used, e.Max)
}

// check refuses what no store takes.
func check(ctx context.Context, owner Owner, result Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !owner.Whole() {
		return fmt.Errorf("store a result of app %q, user %q, session %q: each of them must have a name", owner.AppName, owner.UserID, owner.SessionID)
	}
	if !IsRef(result.Ref) {
		return fmt.Errorf("store a result as %.40q: that is no reference; use ResultOf", result.Ref)
	}
	return nil
}
