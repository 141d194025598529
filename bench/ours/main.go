// Command ours runs a job with package persistence: alone, below the compaction service, or with
// handwritten statements in its place.
package main

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/bench/workload"
	"github.com/adk-go-ext/longsession/persistence"
)

const (
	ungrouped = "ungrouped" // one append per commit
	byHand    = "by hand"
	wrapped   = "wrapped"
)

func main() {
	os.Exit(workload.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr, open))
}

func open(ctx context.Context, job workload.Job) (session.Service, func() error, error) {
	if job.Variant == byHand {
		return openByHand(ctx, job)
	}
	svc, err := openFile(job)
	if err != nil {
		return nil, nil, err
	}
	switch job.Variant {
	case "":
		return svc, svc.Close, nil
	case ungrouped:
		return &workload.Locked{Service: svc}, svc.Close, nil
	case wrapped:
		return anew{svc}, svc.Close, nil
	default:
		return nil, nil, fmt.Errorf("unknown variant %q", job.Variant)
	}
}

func openFile(job workload.Job) (*persistence.SQLiteSessionService, error) {
	switch job.Mode {
	case "FULL":
		return persistence.NewSQLiteSessionService(job.Path)
	case "NORMAL":
		return persistence.NewSQLiteSessionService(job.Path, persistence.WithSynchronousNormal())
	default:
		return nil, fmt.Errorf("unknown mode %q", job.Mode)
	}
}
