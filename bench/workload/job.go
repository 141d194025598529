// Package workload is what each side of a comparison is made to do: the same events, in the same order,
// measured by the same code. Each side is a program of its own, because both sides register a database
// driver with the name "sqlite", and one program cannot have two.
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

// Task names what to do.
type Task string

const (
	// Append appends events for a while, each goroutine to a session of its own.
	Append Task = "append"
	// Fill writes one session, which Get then reads.
	Fill Task = "fill"
	// Compact is Fill, with the records of the compactions that such a session would have had.
	Compact Task = "compact"
	// Get reads the session that Fill or Compact wrote, again and again.
	Get Task = "get"
)

// Job is one measurement. A program gets it as JSON in its only argument.
type Job struct {
	Task    Task
	Path    string        // of the database file
	Variant string        // how the program sets its service up; "" for the usual way
	Mode    string        // SQLite's synchronous: NORMAL or FULL
	Writers int           // goroutines for Append
	Events  int           // in the session, for Fill, Compact and Get
	For     time.Duration // how long to measure, for Append and Get
}

// Result is what was measured. A program prints it as JSON.
type Result struct {
	Appended, Failed int
	FirstFailure     string
	Seconds          float64
	Slowest          time.Duration // of the appends that succeeded
	Get              time.Duration // the median of all reads
	Shown            int           // events in the session that Get returned
	EventBytes       int64         // sum of the JSON of the events that Fill wrote
}

// PerSecond is the rate of successful appends.
func (r Result) PerSecond() float64 { return float64(r.Appended) / r.Seconds }

// Opener opens the service that a job is about.
type Opener func(ctx context.Context, job Job) (svc session.Service, closeIt func() error, err error)

// Main is a program that does one job.
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
