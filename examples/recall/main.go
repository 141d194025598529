// Command recall plays a chat of 200 turns through the real ADK runner. In the first turns the user says things that
// matter, such as an address and the number of a contract, and at the end asks for them. The chat is played four
// times: with ADK alone, with summaries, with a ledger of exact values on top, and with the tool recall as well, which is
// the default. A table shows what the model could still answer and what it was sent. It needs no key and no network:
//
//	go run ./examples/recall
//
// A second chat shows what the user said word for word, which the prompt repeats where a model writes the summaries and the
// user writes little of the text. In the first chat both are not so.
//
// The scripted model knows what its prompt has, and nothing else. Where the answer is not there it calls recall, if
// it has that tool, with the question as the query. The command fails if a question remains unanswered then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("recall", flag.ContinueOnError)
	flags.SetOutput(stderr)
	turns := flags.Int("turns", 200, "how many turns the chat has")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "recall: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *turns < fewest || *turns > most:
		fmt.Fprintf(stderr, "recall: -turns is %d: the chat needs at least %d for what is said and asked, and has material for %d\n", *turns, fewest, most)
		return 2
	}
	if err := playAll(ctx, *turns, stdout); err != nil {
		fmt.Fprintf(stderr, "recall: %v\n", err)
		return 1
	}
	return 0
}
