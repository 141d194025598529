package longsession

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// sourceOf is a source with one content, or only with an error.
type sourceOf struct {
	content string
	err     error
}

func (s sourceOf) Open(context.Context, store.Owner, string) (io.ReaderAt, int64, error) {
	if s.err != nil {
		return nil, 0, s.err
	}
	return strings.NewReader(s.content), int64(len(s.content)), nil
}

// A source that fails does not hide a result of another one.
func TestAResultIsOpenedFromTheSourceThatHasIt(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	unknown, failing, found := sourceOf{err: store.ErrUnknownRef}, sourceOf{err: down}, sourceOf{content: "whole"}
	for name, test := range map[string]struct {
		sources sources
		want    error
	}{
		"the first":           {sources{found, failing}, nil},
		"behind unknown":      {sources{unknown, found}, nil},
		"behind a failure":    {sources{failing, found}, nil},
		"nowhere":             {sources{unknown, unknown}, store.ErrUnknownRef},
		"perhaps where down":  {sources{unknown, failing}, down},
		"perhaps where down2": {sources{failing, unknown}, down},
		"no source":           {nil, store.ErrUnknownRef},
	} {
		reader, size, err := test.sources.Open(t.Context(), store.Owner{}, "r-0123456789abcdef")
		if !errors.Is(err, test.want) || (err == nil) != (reader != nil && size == 5) {
			t.Errorf("%s: %v, %d bytes, error %v", name, reader, size, err)
		}
	}
}
