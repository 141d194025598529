package longsession

import (
	"context"
	"errors"
	"io"

	"github.com/adk-go-ext/longsession/toolresult/store"
)

// sources opens a result from the first source that has it.
type sources []store.Source

// Open implements [store.Source].
func (s sources) Open(ctx context.Context, owner store.Owner, ref string) (io.ReaderAt, int64, error) {
	for _, source := range s {
		reader, size, err := source.Open(ctx, owner, ref)
		if err == nil || !errors.Is(err, store.ErrUnknownRef) {
			return reader, size, err
		}
	}
	return nil, 0, store.ErrUnknownRef
}
