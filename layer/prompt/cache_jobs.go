package prompt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errJobEnded is for a client that ends its goroutine.
var errJobEnded = errors.New("the client has ended its goroutine")

// errJobHangs is for a client that ignores the end of its context.
var errJobHangs = errors.New("the client has not returned, although its context has ended; nothing more is tried for this key")

// cacheJobs runs calls of clients in the background.
type cacheJobs struct {
	ctx context.Context // of all calls; ends with close
	end context.CancelFunc

	mu      sync.Mutex
	running int
	closed  bool
	idle    chan struct{} // closed when none runs after close
}

func newCacheJobs() *cacheJobs {
	j := &cacheJobs{idle: make(chan struct{})}
	j.ctx, j.end = context.WithCancel(context.Background())
	return j
}

// begin runs call, and then finish with its error, which may be a panic. If call ignores the end of its
// context, hangs is called once. It reports false if nothing is run: the jobs are closed, or too many are running.
func (j *cacheJobs) begin(call func(context.Context) error, finish func(error), hangs func(error)) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.running >= maxCacheJobs {
		return false
	}
	j.running++
	go func() {
		err := errJobEnded
		ctx, cancel := context.WithTimeout(j.ctx, cacheCallTimeout)
		late := time.AfterFunc(cacheCallTimeout+time.Second, func() { hangs(errJobHangs) })
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause)
			}
			late.Stop()
			cancel()
			finish(err)
			j.ended()
		}()
		err = call(ctx)
	}()
	return true
}

// ended notes the end of a job.
func (j *cacheJobs) ended() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running--; j.running == 0 && j.closed {
		close(j.idle)
	}
}

// close ends the context of all jobs, and begins no more.
func (j *cacheJobs) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if j.running == 0 {
		close(j.idle)
	}
	j.end()
}

// begin runs a call of a client in the background. finish is called without a lock.
func (s *cacheStore) begin(model string, call func(context.Context) error, finish func(error)) bool {
	return s.jobs.begin(call, finish, func(err error) { s.failed(model, "", err) })
}

// failed counts and reports a failure of a client.
func (s *cacheStore) failed(model, name string, err error) {
	s.mu.Lock()
	s.stats.Failed++
	s.mu.Unlock()
	s.report(CacheObservation{Kind: CacheFailed, Model: model, Name: name, Err: err})
}
