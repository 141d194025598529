// Command economy compares compaction by price, as [compaction.Config] does by default, with no compaction and with the best
// fixed threshold that is known when a conversation is over, and prints tables in Markdown:
//
//	cd bench && LONGSESSION_DATA=FOLDER go run ./economy
//
// Recorded conversations are played through ADK's runner: once without compaction, once for each fixed threshold, and
// once by the prices of each model. The best threshold is one of [thresholds], or none, for all conversations of a set.
// Dollars are those of all requests and summaries. A request pays the cached price for what it has in common with the
// beginning of the one before, and each summary what the agent's model would ask for it, although no model writes it.
//
// Coding sessions are also played with summaries at other prices: those of a smaller model, and those of the cache.
//
// The synthetic sessions of 10,000 calls vary the growth of the history, the price of cached input and that of output.
// Events are appended to the compaction service, and what it would send is paid with each call.
//
// The command needs no key and no network. Without recordings it plays the synthetic sessions alone. It fails if a goal
// is missed; the last lines of the output name it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// settings of the command.
type settings struct {
	dir   string
	calls int
}

// run returns the exit code: 0 if everything was measured and the goals are met, 1 for a failure, 2 for invalid
// arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("economy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.dir, "data", os.Getenv("LONGSESSION_DATA"), "the folder with recorded conversations; empty: none")
	flags.IntVar(&s.calls, "calls", 10_000, "the calls of a synthetic session; 0: none is played")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || s.calls < 0 || s.calls == 0 && s.dir == "":
		fmt.Fprintln(stderr, "economy: a negative number, nothing to play, or an argument too many; see -help")
		return 2
	}
	var missed []string
	if s.dir != "" {
		found, err := playRecorded(ctx, s.dir, stdout, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "economy: %v\n", err)
			return 1
		}
		missed = append(missed, found...)
	}
	if s.calls > 0 {
		found, err := playSynthetic(ctx, s.calls, stdout, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "economy: %v\n", err)
			return 1
		}
		missed = append(missed, found...)
	}
	for _, goal := range missed {
		fmt.Fprintf(stderr, "economy: %s\n", goal)
	}
	if len(missed) > 0 {
		return 1
	}
	return 0
}
