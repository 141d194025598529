// Command toolheavy has an agent read a large source tree in 200 model calls with a context window of
// 32,000 tokens, through the real ADK runner: with ADK alone, with compaction, and with every layer of
// this module. At the end a table shows what was sent, saved, cut and read back, and what broke the
// provider's prompt cache. It needs no key and no network:
//
//	go run ./examples/toolheavy
//
// It fails if a prompt of the play with every layer does not fit into the window, or if a result that was
// cut cannot be read back byte for byte. With -live, Gemini does the reading in the last of the plays only,
// which needs GOOGLE_API_KEY.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/summarizer"
)

// window is the context window of the scripted model, and what is used of a larger one.
const window = 32_000

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("toolheavy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	live := flags.Bool("live", false, "let Gemini read and summarize (needs GOOGLE_API_KEY)")
	name := flags.String("model", "gemini-2.5-flash", "the model that -live uses")
	tasks := flags.Int("tasks", packages, "how many packages to read")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "toolheavy: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *tasks < 1 || *tasks > packages:
		fmt.Fprintf(stderr, "toolheavy: -tasks is %d: the tree has %d packages\n", *tasks, packages)
		return 2
	}

	// The defaults of every layer, but for the summaries: they are written without a model, and at once,
	// so that every run prints the same table.
	cfg := longsession.Config{}
	cfg.Compaction.Synchronous = true
	cfg.Compaction.Summarizer = summarizer.Extractive{}
	chosen := plays
	llm := func(p *provider) model.LLM { return &scripted{provider: p} }
	if *live {
		key := os.Getenv("GOOGLE_API_KEY")
		if key == "" {
			fmt.Fprintln(stderr, "toolheavy: -live needs a Gemini API key in GOOGLE_API_KEY; leave -live out to run offline")
			return 2
		}
		reader, err := gemini.NewModel(ctx, *name, &genai.ClientConfig{APIKey: key})
		if err != nil {
			fmt.Fprintf(stderr, "toolheavy: model %s: %v\n", *name, err)
			return 1
		}
		cfg.Compaction.Summarizer, cfg.Model = nil, reader
		llm = func(p *provider) model.LLM { return counted{reader, p} }
		chosen = plays[2:]
	}
	if err := playAll(ctx, llm, cfg, chosen, *tasks, stdout); err != nil {
		fmt.Fprintf(stderr, "toolheavy: %v\n", err)
		return 1
	}
	return 0
}
