// Command longrun has an unattended agent walk a source tree, for 300 model calls and with every layer of this
// module. On the way the agent falls into a loop, which the watchdog ends, and reaches its
// cost ceiling, which holds in a new process until it is reset. It needs no key and no network:
//
//	go run ./examples/longrun
//
// At the end it shows how the context was managed and what was spent, compares the money with its own count of
// every request, and checks the session file with longsession audit verify, for which it runs the go command. It
// fails if anything is wrong.
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

// wanted is how many model calls the walk has by default, those of subtasks included.
const wanted = 300

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("longrun", flag.ContinueOnError)
	flags.SetOutput(stderr)
	calls := flags.Int("calls", wanted, "how many model calls to walk for")
	file := flags.String("file", "", "the new file to keep the session in; empty: one in a temporary folder, which is removed")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "longrun: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	case *calls < fewest || *calls > 2_000:
		fmt.Fprintf(stderr, "longrun: -calls is %d: use a number from %d, so that the loop and the ceiling are reached, to 2000\n", *calls, fewest)
		return 2
	}
	if *file != "" {
		if _, err := os.Stat(*file); err == nil {
			fmt.Fprintf(stderr, "longrun: -file %s exists: the walk needs a new one\n", *file)
			return 2
		}
	}
	folder, err := os.MkdirTemp("", "longrun-")
	if err != nil {
		fmt.Fprintf(stderr, "longrun: %v\n", err)
		return 1
	}
	defer os.RemoveAll(folder)
	if *file == "" {
		*file = filepath.Join(folder, "sessions.db")
	}
	w := &walk{folder: filepath.Join(folder, "tree"), file: *file, wanted: *calls, out: stdout}
	if err := errors.Join(writeTree(w.folder), w.run(ctx)); err != nil {
		fmt.Fprintf(stderr, "longrun: %v\n", err)
		return 1
	}
	return 0
}
