// Command quickstart plays 40 turns between a support desk and one customer through the real ADK
// runner, and compares prompts with and without compaction. It needs no key and no network:
//
//	go run ./examples/quickstart
//
// The session stays in a file that the sqlite3 shell can read. With -live, Gemini answers and
// writes the summaries, which needs GOOGLE_API_KEY.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(stderr)
	live := flags.Bool("live", false, "let Gemini answer and summarize (needs GOOGLE_API_KEY)")
	file := flags.String("file", "", "the new file to keep the session in; empty: one in a new temporary folder")
	name := flags.String("model", "gemini-2.5-flash", "the model that -live uses")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "quickstart: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	}

	// With the defaults, the oldest turns are summarized after 5 finished turns, and the newest 2
	// always stay raw.
	cfg := compaction.DefaultConfig()
	cfg.Synchronous = true // so that every run prints the same table; leave it off in an app
	var llm model.LLM = scripted()
	cfg.ContextWindow = 128_000 // needed because no table knows the scripted model
	if *live {
		key := os.Getenv("GOOGLE_API_KEY")
		if key == "" {
			fmt.Fprintln(stderr, "quickstart: -live needs a Gemini API key in GOOGLE_API_KEY; leave -live out to run offline")
			return 2
		}
		var err error
		if llm, err = gemini.NewModel(ctx, *name, &genai.ClientConfig{APIKey: key}); err != nil {
			fmt.Fprintf(stderr, "quickstart: model %s: %v\n", *name, err)
			return 1
		}
		cfg.Model = llm
	} else {
		cfg.Summarizer = summarizer.Extractive{}
		cfg.MaxSummaryTokens = 150 // short summaries, because the turns are short
	}
	if *file == "" {
		folder, err := os.MkdirTemp("", "quickstart-")
		if err != nil {
			fmt.Fprintf(stderr, "quickstart: %v\n", err)
			return 1
		}
		*file = filepath.Join(folder, "sessions.db")
	} else if _, err := os.Stat(*file); err == nil {
		fmt.Fprintf(stderr, "quickstart: -file %s exists: the 40 turns need a new one\n", *file)
		return 2
	}
	if err := serve(ctx, llm, cfg, *file, stdout); err != nil {
		fmt.Fprintf(stderr, "quickstart: %v\n", err)
		return 1
	}
	return 0
}
