// Command bench compares package persistence with ADK's session/database on
// github.com/glebarez/sqlite, which is a SQLite driver without cgo like ours, and prints a Markdown
// table:
//
//	cd bench && go run .
//
// Both sides use the same build of SQLite, WAL, foreign keys and the same lock timeout. Each side
// is a separate program, and the two alternate in every round. A ratio compares measurements of the
// same round. The table shows the median of all rounds, with the lowest and the highest. A required
// ratio is compared with the median. Rows without a requirement are there for fairness: they show
// ADK's service at its best, and the cost of our service if it waits for the disk at every commit.
//
// Disk figures are those of the folder for temporary files, or of the folder in -dir.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// settings control how much is measured.
type settings struct {
	rounds, events int
	long           time.Duration
	dir            string
}

// run returns the exit code: 0 if everything was measured, 1 for a failure, 2 for invalid
// arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.rounds, "rounds", 5, "how often each measurement is made")
	flags.IntVar(&s.events, "events", 10_000, "events in the session that is read, at least 200")
	flags.DurationVar(&s.long, "for", 2*time.Second, "how long one measurement takes")
	flags.StringVar(&s.dir, "dir", "", "a folder on the disk to measure, instead of the one for temporary files")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || s.rounds < 1 || s.events < 200 || s.long <= 0:
		fmt.Fprintln(stderr, "bench: numbers too small, or an argument too many; see -help")
		return 2
	}
	measured, err := measureAll(ctx, s, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "%d rounds of %v, %d CPUs, %s/%s, %s\n\n", s.rounds, s.long, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	printTable(stdout, rows(measured, s.events))
	return 0
}
