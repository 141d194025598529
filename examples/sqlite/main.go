// Command sqlite shows an app that is stopped in the middle of a conversation and restarted. It
// continues where it stopped, and loads only the part of its file that the model sees. It needs no
// key and no network:
//
//	go run ./examples/sqlite
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("sqlite", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("file", "", "the new file to keep the session in; empty: one in a new temporary folder")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "sqlite: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	}
	if *file == "" {
		folder, err := os.MkdirTemp("", "sqlite-")
		if err != nil {
			fmt.Fprintf(stderr, "sqlite: %v\n", err)
			return 1
		}
		*file = filepath.Join(folder, "sessions.db")
	} else if _, err := os.Stat(*file); err == nil {
		fmt.Fprintf(stderr, "sqlite: -file %s exists: the conversation needs a new one\n", *file)
		return 2
	}
	if err := twoStarts(ctx, *file, stdout); err != nil {
		fmt.Fprintf(stderr, "sqlite: %v\n", err)
		return 1
	}
	return 0
}

// twoStarts runs the app twice. Only the file survives the first run.
func twoStarts(ctx context.Context, file string, out io.Writer) error {
	half := len(conversation) / 2
	fmt.Fprintf(out, "The session is kept in %s\n\nFirst start.\n", file)
	if err := live(ctx, file, conversation[:half], out); err != nil {
		return err
	}
	fmt.Fprintf(out, "Stopped, and started again.\n")
	if err := live(ctx, file, conversation[half:], out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nTo read all of it, or what the model sees of it now:\n")
	for _, view := range []string{"history", "context"} {
		fmt.Fprintf(out, "  sqlite3 -readonly -box '%s' \"%s\"\n", file, look(view))
	}
	return nil
}

// look returns the SQL query that reads a view of the session file.
func look(view string) string { return "SELECT seq, author, substr(text, 1, 80) AS text FROM " + view }
