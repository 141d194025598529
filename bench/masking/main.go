// Command masking compares settings of [toolresult.Masking] on recorded conversations, and prints a table in
// Markdown:
//
//	cd bench && LONGSESSION_DATA=FOLDER go run ./masking
//
// Each conversation is played once through ADK's runner without any shortening. Then each setting masks
// the requests that the model received. Sizes are estimates of package tokens. A request costs one unit for
// each token, and a tenth of it for each token of the contents with which it begins exactly like the
// request before: that is what a provider's cache serves. A request breaks the prefix if the one
// before is not the whole of its beginning.
//
// The command needs no key and no network. Without recordings it plays an invented session. With them, it
// fails if the default misses its goals, which the last lines of the output name.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/adk-go-ext/longsession/replay/conversation"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// settings of the command.
type settings struct {
	dir             string
	messages, fixed int
}

// run returns the exit code: 0 if everything was measured and the goals are met, 1 for a failure, 2 for
// invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("masking", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.dir, "data", os.Getenv("LONGSESSION_DATA"), "the folder with coding_agent_sessions.jsonl; empty: an invented session")
	flags.IntVar(&s.messages, "messages", 90, "the number of messages from which on a recorded conversation counts")
	flags.IntVar(&s.fixed, "fixed", 15_000, "the tokens of instructions and tool declarations in each request")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "masking: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	}
	conversations, err := s.conversations()
	if err != nil {
		fmt.Fprintf(stderr, "masking: %v\n", err)
		return 2
	}
	sessions, err := recordAll(ctx, conversations)
	if err != nil {
		fmt.Fprintf(stderr, "masking: %v\n", err)
		return 1
	}
	rows, err := measure(sessions, s.fixed)
	if err != nil {
		fmt.Fprintf(stderr, "masking: %v\n", err)
		return 1
	}
	printTable(stdout, rows, len(sessions), s.fixed)
	if s.dir == "" {
		fmt.Fprintln(stderr, "masking: an invented session: set LONGSESSION_DATA to a folder that has recorded ones")
		return 0
	}
	missed := missedGoals(rows)
	for _, goal := range missed {
		fmt.Fprintf(stderr, "masking: %s\n", goal)
	}
	if len(missed) > 0 {
		return 1
	}
	return 0
}

// conversations returns the recorded ones, or an invented one.
func (s settings) conversations() ([]*conversation.Conversation, error) {
	if s.dir == "" {
		return []*conversation.Conversation{invented()}, nil
	}
	all, err := conversation.ReadFile(filepath.Join(s.dir, "coding_agent_sessions.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("-data must name a folder with recorded conversations, or nothing: %w", err)
	}
	all = slices.DeleteFunc(all, func(c *conversation.Conversation) bool { return c.Messages() < s.messages })
	if len(all) == 0 {
		return nil, fmt.Errorf("no recorded conversation has %d messages: lower -messages", s.messages)
	}
	return all, nil
}
