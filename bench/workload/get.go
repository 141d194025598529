package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/adk/session"
)

// minReads is the minimum number of reads for a median, however long they take.
const minReads = 5

// getFor reads one session with its events repeatedly for job.For.
func getFor(ctx context.Context, svc session.Service, job Job) (Result, error) {
	var took []time.Duration
	var shown int
	for begin := time.Now(); len(took) < minReads || time.Since(begin) < job.For; {
		start := time.Now()
		sess, err := stored(ctx, svc, sessionID(0))
		if err != nil {
			return Result{}, err
		}
		n := sess.Events().Len()
		took = append(took, time.Since(start))
		if n == 0 || len(took) > 1 && n != shown {
			return Result{}, fmt.Errorf("a read showed %d events, the one before %d", n, shown)
		}
		shown = n
	}
	slices.Sort(took)
	return Result{Get: took[len(took)/2], Shown: shown, Seconds: sum(took).Seconds()}, nil
}

func sum(all []time.Duration) (total time.Duration) {
	for _, d := range all {
		total += d
	}
	return total
}
