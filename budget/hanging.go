package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/adk-go-ext/longsession/compaction"
)

// hanging runs steps that may hang, and remembers those that do. The zero value is ready to use.
type hanging struct {
	mu    sync.Mutex
	steps map[hangKey]int // how many have not returned yet, of those that were given up
}

type hangKey struct {
	what string
	ref  compaction.SessionRef
}

// run runs a step in a goroutine of its own, and returns its error, its panic, or errHangs.
func (h *hanging) run(ctx context.Context, timeout time.Duration, key hangKey, step func(context.Context) error) error {
	if h.has(key) {
		return errHangs
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	returned := make(chan error, 1)
	givenUp := false // guarded by h.mu
	go func() {
		err := errors.New("it ended its goroutine")
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause)
			}
			returned <- err
			h.mu.Lock()
			defer h.mu.Unlock()
			if givenUp {
				h.add(key, -1)
			}
		}()
		err = step(ctx)
	}()
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case err := <-returned:
		return err
	default:
	}
	givenUp = true
	h.add(key, 1)
	return errors.Join(errHangs, context.Cause(ctx))
}

func (h *hanging) has(key hangKey) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps[key] > 0
}

// add counts a step. The caller holds h.mu.
func (h *hanging) add(key hangKey, n int) {
	if h.steps == nil {
		h.steps = map[hangKey]int{}
	}
	if h.steps[key] += n; h.steps[key] == 0 {
		delete(h.steps, key)
	}
}
