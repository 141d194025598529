package store

import (
	"context"
	"errors"
	"io"
)

// ErrUnknownRef is the answer to every reference that names no result of the session: it never
// existed, belongs to another session, or is malformed. The answer does not tell which.
var ErrUnknownRef = errors.New("no result with this ref_id in this session")

// Owner is the session that a result belongs to, as in ADK's [session.GetRequest].
type Owner struct {
	AppName, UserID, SessionID string
}

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
	// Put stores a result of the named tool under result.Ref. Storing a result again changes
	// nothing. If it returns an error, the result is not stored.
	Put(ctx context.Context, owner Owner, tool string, result Result) error
}
