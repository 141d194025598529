// Command mcp has an agent with 200 tools of an MCP server, which it runs over stdio, work through 30
// turns on the real ADK runner: with ADK alone, with tool search in its mode Promote, with tool search as it
// is by default, and with every other layer of this module, too. A table compares what was sent, what a provider's prompt cache could serve of it, and
// what it costs. It needs no key and no network:
//
//	go run ./examples/mcp
//
// It fails if a call of a tool does not succeed, and if the default mode breaks the prefix of a prompt, saves
// less than 80% of the tokens of the declarations, or costs more than Promote. Whether it costs less than
// ADK alone depends on how many tools a session needs: each search leaves five schemas in the prompt. With
// -tasks 30 every turn needs other tools.
//
// The server is this program itself, with the argument serve.
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
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := serve(context.Background()); err != nil {
			fmt.Fprintf(os.Stderr, "mcp serve: %v\n", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mcp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	turns := flags.Int("turns", 30, "how many turns to play")
	different := flags.Int("tasks", 10, "how many different tasks there are, 1 to 30; they repeat")
	name := flags.String("model", "claude-sonnet-4-5", "the model whose prices are used")
	window := flags.Int("window", 100_000, "the context window, in tokens")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "mcp: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *turns < 10:
		fmt.Fprintf(stderr, "mcp: -turns is %d: play at least 10, or there is little to compare\n", *turns)
		return 2
	}
	if *different < 1 || *different > len(tasks) {
		fmt.Fprintf(stderr, "mcp: -tasks is %d: there are %d\n", *different, len(tasks))
		return 2
	}
	if *window < 30_000 {
		fmt.Fprintf(stderr, "mcp: -window is %d: a prompt with 200 tools needs more than 20000 tokens\n", *window)
		return 2
	}
	price, err := priceOf(*name)
	if err != nil {
		fmt.Fprintf(stderr, "mcp: -model: %v\n", err)
		return 2
	}
	var games []*game
	for _, way := range ways() {
		g, err := play(ctx, way, *name, *window, *turns, *different)
		if err != nil {
			fmt.Fprintf(stderr, "mcp: %s: %v\n", way.name, err)
			return 1
		}
		games = append(games, g)
	}
	table(stdout, games, *name, price)
	if err := check(games, price); err != nil {
		fmt.Fprintf(stderr, "mcp: %v\n", err)
		return 1
	}
	alone, bridge := games[0], games[2]
	fmt.Fprintf(stdout, "\nmcp ok: %d turns, %d prefix breaks,\n%s fewer tokens declared for each call\n",
		*turns, bridge.breaks, share(alone.each()-bridge.each(), alone.each()))
	return 0
}
