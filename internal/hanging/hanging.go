// Package hanging runs code of the app that may fail, panic or never return.
package hanging

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Err is the error of a step that did not return in time, or that still hangs from an earlier call.
var Err = errors.New("it does not return")

// Steps runs steps that may hang, and remembers those that do, by a key. The zero value is ready to use. It is
// safe for concurrent use, and must not be copied.
type Steps[K comparable] struct {
	// Most is how many steps may hang at a time, of all keys together. 0 means any number.
	Most int

	mu    sync.Mutex
	steps map[K]int // how many have not returned yet, of those that were given up
	all   int       // of all keys
}

// Run runs a step in a goroutine of its own, and returns its error, its panic, or [Err]. A step whose key
// hangs is not started again until it has returned. If as many as Most hang, none is started until one of them
// has returned.
func (h *Steps[K]) Run(ctx context.Context, timeout time.Duration, key K, step func(context.Context) error) error {
	if h.has(key) {
		return Err
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
	return errors.Join(Err, context.Cause(ctx))
}

func (h *Steps[K]) has(key K) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps[key] > 0 || h.Most > 0 && h.all >= h.Most
}

// add counts a step. The caller holds h.mu.
func (h *Steps[K]) add(key K, n int) {
	if h.steps == nil {
		h.steps = map[K]int{}
	}
	h.all += n
	if h.steps[key] += n; h.steps[key] == 0 {
		delete(h.steps, key)
	}
}
