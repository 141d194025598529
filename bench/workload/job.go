// Package workload is the common workload of a comparison: the same events in the same order,
// measured by the same code. Each side is a separate program, because both register a database
// driver named "sqlite", which one program cannot do twice.
package workload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/adk/session"
)

// Task is the kind of a job.
type Task string

const (
	// Append appends events for a while, with one session per goroutine.
	Append Task = "append"
	// Fill writes one session, for Get to read.
	Fill Task = "fill"
	// Compact is Fill with the compaction records that such a session would have.
	Compact Task = "compact"
	// Get repeatedly reads the session that Fill or Compact wrote.
	Get Task = "get"
)

// Job is one measurement. A program receives it as JSON in its only argument.
type Job struct {
	Task    Task
	Path    string        // of the database file
	Variant string        // setup of the service; "" for the usual one
	Mode    string        // SQLite's synchronous: NORMAL or FULL
	Writers int           // goroutines for Append
	Events  int           // in the session, for Fill, Compact and Get
	For     time.Duration // how long to measure, for Append and Get
}

// Result is the outcome of a job. A program prints it as JSON.
type Result struct {
	Appended, Failed int
	FirstFailure     string
	Seconds          float64
	Slowest          time.Duration // slowest successful append
	Get              time.Duration // median of all reads
	Shown            int           // events in the session that Get returned
	EventBytes       int64         // size of the events that Fill wrote, as JSON
}

// PerSecond is the rate of successful appends.
func (r Result) PerSecond() float64 { return float64(r.Appended) / r.Seconds }

// Opener opens the service that a job measures.
type Opener func(ctx context.Context, job Job) (svc session.Service, closeIt func() error, err error)

// Main runs one job, and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer, open Opener) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "this program is run by the command in the folder above; its argument is a job as JSON")
		return 2
	}
	var job Job
	if err := json.Unmarshal([]byte(args[0]), &job); err != nil {
		fmt.Fprintf(stderr, "job %q: %v\n", args[0], err)
		return 2
	}
	result, err := run(ctx, job, open)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

func run(ctx context.Context, job Job, open Opener) (result Result, err error) {
	svc, closeIt, err := open(ctx, job)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, closeIt()) }()
	switch job.Task {
	case Append:
		return appendFor(ctx, svc, job)
	case Fill, Compact:
		return fill(ctx, svc, job)
	case Get:
		return getFor(ctx, svc, job)
	default:
		return Result{}, fmt.Errorf("unknown task %q", job.Task)
	}
}
