package longsession

import (
	"context"
	"errors"
	"io"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// sources opens a result from the first source that has it.
type sources []store.Source

// OpenResult opens a whole tool result of a session by the reference that prompts show in its place, for people: the
// model has read_result. It returns the number of bytes, too. The error wraps [store.ErrUnknownRef] if the session has
// no such result, and also with LayerToolResults disabled, which shortens none.
func (s *Stack) OpenResult(ctx context.Context, session compaction.SessionRef, ref string) (io.ReaderAt, int64, error) {
	return s.results.Open(ctx, store.Owner{AppName: session.AppName, UserID: session.UserID, SessionID: session.SessionID}, ref)
}

// Open implements [store.Source]. If none has the result, it returns the first failure of a source, or
// [store.ErrUnknownRef] if none failed.
func (s sources) Open(ctx context.Context, owner store.Owner, ref string) (io.ReaderAt, int64, error) {
	failure := store.ErrUnknownRef
	for _, source := range s {
		reader, size, err := source.Open(ctx, owner, ref)
		if err == nil {
			return reader, size, nil
		}
		if errors.Is(failure, store.ErrUnknownRef) && !errors.Is(err, store.ErrUnknownRef) {
			failure = err
		}
	}
	return nil, 0, failure
}
