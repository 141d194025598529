// Command longsession replays recorded conversations with and without compaction, and audits
// session files. docs/command.md is its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/cli"
)

func main() {
	ends := []os.Signal{syscall.SIGTERM} // the command that runs listens to Ctrl-C
	if !signal.Ignored(syscall.SIGHUP) { // it is under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // writing to a closed pipe is an error, and not the end of the process
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
