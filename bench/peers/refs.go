package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

var refPattern = regexp.MustCompile(`r-[0-9a-f]{16}\b`)

// refs returns the references in a text, each once.
func refs(text []byte) []string {
	var found []string
	for _, ref := range refPattern.FindAllString(string(text), -1) {
		if !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	return found
}

// readBack reads the results whose references the last request holds, and counts those that come back
// whole.
func (w *watch) readBack(ctx context.Context, source store.Source, owner store.Owner) error {
	for _, number := range w.readable {
		whole := w.planted.whole[w.planted.refs[number]]
		from, size, err := source.Open(ctx, owner, whole.Ref)
		if err != nil {
			return fmt.Errorf("result %d: %w", number, err)
		}
		content, err := io.ReadAll(io.NewSectionReader(from, 0, size))
		if err == nil && string(content) != whole.Content {
			err = fmt.Errorf("%d bytes came back, and not the %d that were stored", len(content), len(whole.Content))
		}
		if closer, ok := from.(io.Closer); ok {
			_ = closer.Close()
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", number, err)
		}
		w.seen.readable++
	}
	return nil
}
