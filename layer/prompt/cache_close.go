package prompt

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Close stops caching, ends all calls of clients that run, and deletes the caches that exist. Requests go on
// without caches. It waits until ctx ends, and for 10 seconds at most if ctx has no deadline. The error names
// each cache that could not be deleted: those are billed until they expire. Further calls do nothing, and
// return nil.
func (c *Cache) Close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	left, first := c.store.takeAll()
	if !first {
		return nil
	}
	c.store.jobs.close()
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cacheCloseTimeout)
		defer cancel()
	}
	problems := c.deleteAll(ctx, left)
	idle := c.store.jobs.idle
	select {
	case <-idle:
	case <-ctx.Done():
		select {
		case <-idle:
		default:
			problems = append(problems, fmt.Errorf("prompt: a call of the caches' client is still running: %w", context.Cause(ctx)))
		}
	}
	return errors.Join(problems...)
}

// deletion is a cache that must be deleted.
type deletion struct {
	model  string
	handle *cacheHandle
}

// takeAll takes all caches out of use, and returns them. It reports false if that was done before.
func (s *cacheStore) takeAll() (left []deletion, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.closed = true
	now := time.Now()
	s.sweep(now)
	for _, e := range s.entries.Values() {
		if e.handle != nil {
			left = append(left, deletion{e.model, s.detach(e, now)})
		}
	}
	for h, model := range s.doomed {
		left = append(left, deletion{model, h})
	}
	clear(s.doomed)
	return left, true
}

// deleteAll deletes caches at the same time, and returns what went wrong until ctx ends.
func (c *Cache) deleteAll(ctx context.Context, left []deletion) (problems []error) {
	errs := make([]chan error, len(left))
	for i, d := range left {
		errs[i] = make(chan error, 1)
		go func() {
			err := errJobEnded
			defer func() {
				if cause := recover(); cause != nil {
					err = fmt.Errorf("panic: %v", cause)
				}
				c.store.deleted(d.model, d.handle, err)
				errs[i] <- err
			}()
			_, err = d.handle.client.Delete(ctx, d.handle.name, nil)
		}()
	}
	for i, d := range left {
		var err error
		select {
		case err = <-errs[i]:
		case <-ctx.Done():
			select {
			case err = <-errs[i]:
			default:
				err = context.Cause(ctx)
			}
		}
		if err != nil && !isGone(err) {
			problems = append(problems, fmt.Errorf("prompt: cache %s is billed until %s: %w", d.handle.name, d.handle.expires.Format(time.RFC3339), err))
		}
	}
	return problems
}
