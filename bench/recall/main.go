// Command recall measures how much of a long conversation a model can still get at, and prints tables in Markdown:
//
//	cd bench && LONGSESSION_DATA=FOLDER go run ./recall
//
// Three questions are asked of recorded conversations. Does a search find the messages with the answer? Does an
// accepted answer stand word for word in the prompt, or in what one recall returns? Are the files that a coding agent
// names again still in its prompt? ADK's own in-memory memory.Service, the plugin contextguard and the newest
// messages alone answer the same questions. No model is involved: summaries are extracted, and each question is the
// query as it was asked.
//
// The cost is measured on invented sessions: the time of a query, what recall adds to an append, and the memory
// that an index takes.
//
// The command needs no key and no network. It fails if a goal is missed that does not depend on the machine. Without
// recordings it measures the cost alone.
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
)

func main() {
	// contextguard logs each of its steps to the default logger.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// settings of the command.
type settings struct {
	dir                    string
	events, queries, turns int
	missed                 bool
}

// run returns the exit code: 0 if everything was measured and the goals are met, 1 for a failure, 2 for
// invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("recall", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.dir, "data", os.Getenv("LONGSESSION_DATA"), "the folder with recorded conversations; empty: the cost alone")
	flags.IntVar(&s.events, "events", 100_000, "the number of events of the session that is searched; 0: no measurement of the cost")
	flags.IntVar(&s.queries, "queries", 300, "how many queries are timed")
	flags.IntVar(&s.turns, "turns", 2_000, "how many turns are appended with and without recall")
	flags.BoolVar(&s.missed, "missed", false, "list the numbers of the questions without an answer")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "recall: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case s.events != 0 && s.events < 1_000 || s.queries < 1 || s.turns < 100 || s.events < 0:
		fmt.Fprintln(stderr, "recall: too little to measure: give 1,000 -events or none, 1 of -queries and 100 -turns, or more")
		return 2
	case s.dir == "" && s.events == 0:
		fmt.Fprintln(stderr, "recall: nothing to measure: set LONGSESSION_DATA to a folder that has recorded conversations, or give -events")
		return 2
	}
	if err := s.print(ctx, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "recall: %v\n", err)
		return 1
	}
	return 0
}

// errMissed is the error of a goal that is missed on every machine.
var errMissed = errors.New("a goal is missed")

func (s settings) print(ctx context.Context, stdout, stderr io.Writer) error {
	fmt.Fprintf(stdout, "%d CPUs, %s/%s, %s\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	var goals []goal
	if s.dir == "" {
		fmt.Fprintln(stderr, "recall: no recorded conversations: set LONGSESSION_DATA to a folder that has them")
	} else {
		m, err := measure(ctx, s.dir, stderr)
		if err != nil {
			return err
		}
		printFound(stdout, m)
		printAnswers(stdout, m)
		printCoding(stdout, m)
		if s.missed {
			printMissed(stdout, m)
		}
		goals = m.goals()
	}
	if s.events > 0 {
		c, err := s.cost(ctx, stderr)
		if err != nil {
			return err
		}
		printCost(stdout, c)
		goals = append(goals, c.goals()...)
	}
	return printGoals(stdout, goals)
}
