package servecmd

import (
	"context"
	_ "embed" // of the help
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/exit"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/live"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/pricing"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/setting"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/suggest"
	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/tokens"
)

//go:embed help/serve.txt
var helpText string

const (
	defaultPort = 8457
	mostPort    = 65_535
	// patience is how long a running request may take when the command ends.
	patience = 2 * time.Second
)

// command holds the flags.
type command struct {
	narrow    audit.Narrow
	port      int
	model, as string
	price     tokens.Model // prices only
}

// Command returns the serve command.
func Command() *cobra.Command {
	s := &command{port: defaultPort}
	cmd := &cobra.Command{
		Use: "serve FILE.db [SESSION]", Short: "Show a session file in the browser while it grows", Long: helpText, Args: checkArgs, RunE: s.run,
		Example: "  longsession serve sessions.db\n" +
			"  longsession serve sessions.db order-1 --port 0",
		ValidArgsFunction: completeArgs,
	}
	setting.Add(cmd,
		setting.Setting{Name: "port", Value: setting.Int(&s.port, 0, mostPort, "takes any free one"), Help: "port to listen on; 0 takes any free one"},
		setting.Setting{Name: "app", Value: setting.Text(&s.narrow.App), Help: "only sessions of this app"},
		setting.Setting{Name: "user", Value: setting.Text(&s.narrow.User), Help: "only sessions of this user"},
		setting.Setting{Name: "model", Value: setting.Text(&s.model), Complete: setting.OneOf(pricing.Models...), Help: "the model of calls whose events do not name one"},
		setting.Setting{Name: "price", Value: pricing.Value(&s.price), Help: "prices of --model in USD per million tokens: 'input=3,cached=0.3,output=15'"},
		setting.Setting{Name: "price-as", Value: setting.Text(&s.as), Complete: setting.OneOf(pricing.Models...), Help: "the model whose prices apply to models without prices"})
	return cmd
}

func checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return exit.Usage("no FILE given: name a session file, such as sessions.db")
	case len(args) > 2:
		return exit.Usage("%d arguments: give a FILE and at most one SESSION (quote names with spaces)", len(args))
	}
	return nil
}

func (s *command) run(cmd *cobra.Command, args []string) (err error) {
	ctx := cmd.Context()
	prices, err := audit.NewPrices(s.model, s.price, s.as)
	if err != nil {
		return exit.Usage("%w", err)
	}
	cfg := live.Config{Path: args[0], Narrow: s.narrow, Prices: prices}
	if len(args) == 2 {
		cfg.Session = args[1]
	}
	h, err := live.New(ctx, cfg)
	var which *audit.ErrWhich
	switch {
	case errors.As(err, &which):
		return exit.Usage("%s: %w", args[0], err)
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("nothing was shown")
	case err != nil:
		return exit.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if missing := h.Incomplete(); missing != nil {
		terminal.Complain(cmd.ErrOrStderr(), terminal.Printable(args[0])+": "+terminal.Printable(missing.Error()))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return exit.Usage("--port is %d: another program uses it; choose another, or --port 0 for any free one", s.port)
	case errors.Is(err, syscall.EACCES):
		return exit.Usage("--port is %d: only an administrator may use it; choose one from 1,024 on, or --port 0 for any free one", s.port)
	case err != nil:
		return exit.Failed("cannot listen on port %d: %w", s.port, err)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is shown at http://%s/ until Ctrl-C\n", terminal.Printable(args[0]), listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serve(ctx, listener, h)
}

// serve answers requests until ctx ends, which is no error.
func serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // ends the reading of requests that are running
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return exit.Failed("the server ended: %w", err)
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if server.Shutdown(soon) != nil {
		_ = server.Close() // ends the connections that are left
	}
	<-ended
	return nil
}

// completeArgs completes FILE, and SESSION from that file.
func completeArgs(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return suggest.SessionFiles, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		return sessionNames(c.Context(), args[0], typed), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// sessionNames returns nothing for a file that cannot be read: a shell cannot show an error.
func sessionNames(ctx context.Context, file, typed string) []string {
	f, err := audit.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.Sessions(ctx, audit.Narrow{})
	times := map[string]int{}
	for _, s := range all {
		times[s.ID]++
	}
	var offered []string
	for _, s := range all {
		name := s.ID
		if times[s.ID] > 1 {
			name = s.Name()
		}
		if suggest.Fits(name, typed) {
			offered = append(offered, cobra.CompletionWithDesc(name, terminal.Plural(s.Events, "event")))
		}
	}
	return offered
}
