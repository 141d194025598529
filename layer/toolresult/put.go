package toolresult

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/adk-go-ext/longsession/layer/toolresult/store"
)

// putter stores results in a store that may fail, panic or hang.
type putter struct {
	store   store.Store
	timeout time.Duration // 0: none
	logger  *slog.Logger
	// hanging counts the calls that were given up and have not returned.
	hanging atomic.Int64
	failing atomic.Bool
	stored  *lru.Cache[storedKey, struct{}]
}

// storedKey names a result that the store has.
type storedKey struct {
	owner store.Owner
	ref   string
}

// maxStored bounds the results that are known to be in the store. A forgotten one is stored again.
const maxStored = 16_384

var errHanging = errors.New("the store still hangs in an earlier call")

// put stores a result. After an error the result is not known to be stored.
func (p *putter) put(ctx context.Context, owner store.Owner, tool string, result store.Result) error {
	err := p.try(ctx, owner, tool, result)
	if failing := err != nil; p.failing.Swap(failing) != failing && ctx.Err() == nil {
		if failing {
			orDefaultLogger(p.logger).WarnContext(ctx, "tool results cannot be stored; they stay whole", "error", err)
		} else {
			orDefaultLogger(p.logger).InfoContext(ctx, "tool results can be stored again")
		}
	}
	return err
}

// putMasked is put for results that are masked in many requests in a row, and stored in the first.
func (p *putter) putMasked(ctx context.Context, owner store.Owner, tool string, result store.Result) error {
	key := storedKey{owner, result.Ref}
	if p.stored.Contains(key) {
		return nil
	}
	if err := p.put(ctx, owner, tool, result); err != nil {
		return err
	}
	p.stored.Add(key, struct{}{})
	return nil
}

// The states of a call. Both the call and the caller try to change running: the call to returned, the caller
// to givenUp. The first change decides whether the call counts as hanging.
const (
	running int32 = iota
	returned
	givenUp
)

func (p *putter) try(ctx context.Context, owner store.Owner, tool string, result store.Result) error {
	if p.hanging.Load() > 0 {
		return errHanging
	}
	limited := ctx
	if p.timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, p.timeout)
		defer cancel()
	}
	var state atomic.Int32
	done := make(chan error, 1)
	go func() {
		err := errors.New("the store ended its goroutine")
		defer func() {
			if r := recover(); r != nil {
				err = panicked(r)
			}
			if !state.CompareAndSwap(running, returned) {
				p.hanging.Add(-1)
			}
			done <- err
		}()
		err = p.store.Put(limited, owner, tool, result)
	}()
	select {
	case err := <-done:
		return err
	case <-limited.Done():
		p.hanging.Add(1)
		if !state.CompareAndSwap(running, givenUp) {
			p.hanging.Add(-1) // it returned just now
			return <-done
		}
		return limited.Err()
	}
}
