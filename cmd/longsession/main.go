// Command longsession replays recorded conversations with and without compaction, and audits session
// files. docs/command.md is its manual.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/adk-go-ext/longsession/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
