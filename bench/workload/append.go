package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/adk/session"
)

const (
	app  = "bench"
	user = "ada"

	// minAppends is the minimum number of appends per goroutine, however short the time.
	minAppends = 10
)

func create(ctx context.Context, svc session.Service, id string) (session.Session, error) {
	resp, err := svc.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		return nil, err
	}
	return resp.Session, nil
}

func stored(ctx context.Context, svc session.Service, id string) (session.Session, error) {
	resp, err := svc.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
	if err != nil {
		return nil, err
	}
	return resp.Session, nil
}

// appendFor appends for job.For. It counts failed appends and does not retry them. It then reads
// every session, because an acknowledged append that is missing would invalidate the rate.
func appendFor(ctx context.Context, svc session.Service, job Job) (Result, error) {
	handles := make([]session.Session, job.Writers)
	for i := range handles {
		var err error
		if handles[i], err = create(ctx, svc, sessionID(i)); err != nil {
			return Result{}, err
		}
	}
	parts := make([]Result, job.Writers)
	var writers sync.WaitGroup
	begin := time.Now()
	for i, handle := range handles {
		writers.Go(func() { parts[i] = appendUntil(ctx, svc, handle, begin.Add(job.For)) })
	}
	writers.Wait()
	total := Result{Seconds: time.Since(begin).Seconds()}
	for i, part := range parts {
		total.Appended += part.Appended
		total.Failed += part.Failed
		total.Slowest = max(total.Slowest, part.Slowest)
		if total.FirstFailure == "" {
			total.FirstFailure = part.FirstFailure
		}
		sess, err := stored(ctx, svc, sessionID(i))
		if err != nil {
			return Result{}, err
		}
		if n := sess.Events().Len(); n != part.Appended {
			return Result{}, fmt.Errorf("session %s has %d events, but %d appends succeeded", sess.ID(), n, part.Appended)
		}
	}
	if total.Appended == 0 {
		return Result{}, fmt.Errorf("no append succeeded: %s", total.FirstFailure)
	}
	return total, nil
}

func appendUntil(ctx context.Context, svc session.Service, handle session.Session, end time.Time) Result {
	var r Result
	for n := 0; ; n++ {
		ev := event(ctx, n)
		start := time.Now()
		if n >= minAppends && start.After(end) {
			return r
		}
		if err := svc.AppendEvent(ctx, handle, ev); err != nil {
			r.Failed++
			if r.FirstFailure == "" {
				r.FirstFailure = err.Error()
			}
			continue
		}
		r.Appended++
		r.Slowest = max(r.Slowest, time.Since(start))
	}
}

func sessionID(i int) string { return fmt.Sprintf("s-%d", i) }
