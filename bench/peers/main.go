// Command peers compares ways of keeping a session short, and prints tables in Markdown:
//
//	cd bench && go run ./peers
//
// Each way plays the same conversations through ADK's runner, over its in-memory service: no
// shortening, a callback that keeps the last contents, the plugin contextguard of
// github.com/achetronic/adk-utils-go, and this module. Some conversations are invented, and the hard
// cases are played in ways in which sessions come to harm: see hardCases. Recorded ones are played too if
// LONGSESSION_DATA is a folder with recordings. The command needs no key and no network.
//
// One more way, such as ADK's own compaction, is one more file, as guard.go is one, and a row in ways.
// The file has a function that opens the way: it returns the session service, plugins, a wrapper around
// the model, and a function that changes the settings of the runner, whichever of these the way needs, and
// gives the writer of summaries to the way. Every conversation, hard case, column and note follows. With
// compared set in its row, docs/comparison.md has the way: "make figures" writes rows that are there.
//
// Notes below the tables explain the planted texts and the limits of the figures.
//
// The command fails if a guarantee of this module is violated.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
)

func main() {
	// contextguard logs each of its steps to the default logger.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 if everything was measured and all guarantees hold, 1 for a failure,
// 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("data", os.Getenv(dataFolder), "the folder with recorded conversations; empty: invented ones alone")
	runs := flags.Int("runs", 3, "how often everything is played, 1 or more; the least time counts")
	only := flags.String("only", "", "plays the tables whose title contains this text, and no others")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "peers: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *runs < 1:
		fmt.Fprintf(stderr, "peers: -runs is %d: nothing would be played; give 1 or more\n", *runs)
		return 2
	}
	all, err := sets(*dir)
	if err != nil {
		fmt.Fprintf(stderr, "peers: %v\n", err)
		return 2
	}
	chosen := func(s set, window int) bool { return strings.Contains(s.title(window), *only) }
	if !slices.ContainsFunc(all, func(s set) bool {
		return slices.ContainsFunc(s.windows, func(window int) bool { return chosen(s, window) })
	}) {
		fmt.Fprintf(stderr, "peers: no title of a table contains %q, given with -only\n", *only)
		return 2
	}
	fmt.Fprintf(stdout, "%d CPUs, %s/%s, %s\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	printLegend(stdout)
	code := 0
	for _, s := range all {
		for _, window := range s.windows {
			if !chosen(s, window) {
				continue
			}
			rows, err := measure(ctx, s, window, *runs, stderr)
			if err != nil {
				fmt.Fprintf(stderr, "peers: %v\n", err)
				return 1
			}
			printTable(stdout, s.title(window), rows)
			for _, r := range rows {
				if missed := s.missed(r); len(missed) > 0 {
					fmt.Fprintf(stderr, "peers: %s, window %d: %s does not keep what it promises: %s\n", s.name, window, r.way.name, strings.Join(missed, "; "))
					code = 1
				}
			}
		}
	}
	printNotes(stdout)
	if *dir == "" {
		fmt.Fprintf(stderr, "peers: no recorded conversations: set %s to a folder that has them\n", dataFolder)
	}
	return code
}
