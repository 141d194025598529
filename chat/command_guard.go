package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/guard"
	"github.com/adk-go-ext/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/tokens"
)

var errNoGuard = errors.New("this session has no limits: the guard is turned off")

func showGuard(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	if c.cfg.Stack.Guard == nil {
		return errNoGuard
	}
	used, err := c.cfg.Stack.Guard.Usage(ctx, c.cfg.sessions(), c.ref)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "Spent: %s, %s, %s tokens. The last turn: %s, %s.\n", used.USD, terminal.Plural(used.ModelCalls, "model call"),
		terminal.Commas(used.Tokens.Total()), used.Turn.USD, terminal.Plural(used.Turn.ModelCalls, "model call"))
	if len(used.Unpriced) > 0 {
		_, _ = fmt.Fprintf(w, "Not in it, for their prices are not known: %s\n", terminal.Printable(strings.Join(used.Unpriced, ", ")))
	}
	if used.Stopped != nil {
		_, _ = fmt.Fprintf(w, "Stopped: %v. /resume-after-cost-ceiling +usd lets the session go on.\n", used.Stopped)
		return nil
	}
	_, err = fmt.Fprintln(w, "No limit is reached.")
	return err
}

// resumeAfterCeiling adds money to the ceiling of the session.
func resumeAfterCeiling(ctx context.Context, c *Chat, args string, w io.Writer) error {
	if c.cfg.Stack.Guard == nil {
		return errNoGuard
	}
	var add guard.ResetOptions
	if args != "" {
		usd, err := tokens.ParseUSD(strings.TrimPrefix(strings.TrimPrefix(args, "+"), "$"))
		if err != nil || usd <= 0 {
			return fmt.Errorf("%q is no amount: write it in dollars, such as /resume-after-cost-ceiling +2.50", args)
		}
		add.AddUSD = usd
	}
	if err := c.cfg.Stack.Guard.Reset(ctx, c.cfg.sessions(), c.ref, add); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "The session goes on: %s.\n", add)
	return err
}
