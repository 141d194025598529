// Command cluster shows three processes of one app over one PostgreSQL, and a load balancer that knows no sessions: each
// turn of a conversation goes to any of them. Half-way through, one of them is killed and another takes its place. It needs
// no key and no network, but an installed PostgreSQL (Debian: apt-get install postgresql), of which it starts a server of
// its own in a temporary folder:
//
//	go run ./examples/cluster
//
// It prints who answered each turn, who wrote the summaries, and what was saved, and fails if anything was lost or
// summarized twice. Without PostgreSQL it says so and does nothing; with CI=true in the environment that is a failure.
//
// The processes of the app are this program itself, with the argument serve. See app.go for what an app does to run in
// several processes, and client.go for what is done once, before the app.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

// fewest and most are how long a conversation may be. A summary is due several times in the fewest turns.
const (
	fewest = 16
	most   = 100
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		if err := serve(ctx, os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintf(os.Stderr, "cluster serve: %v\n", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, also where PostgreSQL is not installed, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(stderr)
	turns := flags.Int("turns", 40, "how many turns each customer takes")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "cluster: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *turns < fewest || *turns > most:
		fmt.Fprintf(stderr, "cluster: -turns is %d: use a number from %d, so that there is something to summarize, to %d\n", *turns, fewest, most)
		return 2
	}
	programs, err := findPrograms("initdb", "postgres")
	if err != nil {
		return skip(err, os.Getenv("CI") == "true", stdout, stderr)
	}
	err = show(ctx, programs, *turns, stdout)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "cluster: interrupted")
		return 1
	}
	if err != nil {
		fmt.Fprintf(stderr, "cluster: %v\n", err)
		return 1
	}
	return 0
}

// skip says why nothing can be shown. On CI that is a failure.
func skip(err error, ci bool, stdout, stderr io.Writer) int {
	if ci {
		fmt.Fprintf(stderr, "cluster: nothing may be skipped with CI=true: %v\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "cluster: skipped, nothing was shown: %v\n", err)
	return 0
}

// show starts the server and plays the conversations on it.
func show(ctx context.Context, programs []string, turns int, out io.Writer) (err error) {
	// The path of a socket has at most 107 bytes, so the folder has a short name.
	folder, err := os.MkdirTemp("", "pg")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	database, err := startServer(ctx, programs, filepath.Join(folder, "data"), folder)
	if err != nil {
		return err
	}
	defer database.stop()
	c := &client{dsn: database.dsn(), turns: turns, out: out}
	defer c.stop()
	return c.play(ctx)
}
