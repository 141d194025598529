// Command metrics plays a few turns of an agent and serves what they did and cost to Prometheus. It needs no
// key and no network. The exporter is required by the module of the examples, so an app may have another one.
//
//	go run ./examples/metrics         # plays, then serves http://127.0.0.1:9464/metrics until it is interrupted
//	go run ./examples/metrics -once   # plays, prints one scrape, and ends
//
// dashboard.json is a dashboard for Grafana over these metrics: import it, and choose the data source.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: 0 for success, 1 for a failure, 2 for invalid arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("metrics", flag.ContinueOnError)
	flags.SetOutput(stderr)
	address := flags.String("addr", "127.0.0.1:9464", "the address to serve /metrics at")
	once := flags.Bool("once", false, "print one scrape and end")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "metrics: unexpected argument %q; see -help\n", flags.Arg(0))
		return 2
	}
	if err := serve(ctx, *address, *once, stdout); err != nil {
		fmt.Fprintf(stderr, "metrics: %v\n", err)
		return 1
	}
	return 0
}

// serve plays the turns and serves their metrics until ctx ends, or prints them.
func serve(ctx context.Context, address string, once bool, out io.Writer) (err error) {
	a, err := newApp()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close(context.WithoutCancel(ctx))) }()
	if err := a.play(ctx, out); err != nil {
		return err
	}
	if once {
		return a.scrape(out)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", a.handler)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Fprintf(out, "serving http://%s/metrics; end with Ctrl-C\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
