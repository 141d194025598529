package chat

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/terminal"
)

// compact summarizes now. The sentence about it is that of every compaction.
func compact(ctx context.Context, c *Chat, focus string, w io.Writer) error {
	defer c.screen.wait("compacting")()
	result, err := c.cfg.Stack.Sessions.Compact(ctx, c.ref, compaction.CompactOptions{Focus: focus})
	return c.showCompacted(ctx, result, err, w)
}

// done closes a finished task.
func done(ctx context.Context, c *Chat, note string, w io.Writer) error {
	defer c.screen.wait("writing a checkpoint")()
	result, err := c.cfg.Stack.Sessions.Checkpoint(ctx, c.ref, compaction.CheckpointOptions{Note: note})
	return c.showCompacted(ctx, result, err, w)
}

func (c *Chat) showCompacted(_ context.Context, result compaction.CompactResult, err error, w io.Writer) error {
	c.cfg.Compactions.take(c.ref) // what follows says the same
	if err != nil {
		return err
	}
	if result.Skipped {
		_, err = fmt.Fprintf(w, "Nothing was summarized: %s.\n", strings.TrimSuffix(result.Reason, "."))
		return err
	}
	_, err = fmt.Fprintf(w, "Context compacted: %s -> %s tokens, %s -> %s. Everything stays readable in the session.\n",
		terminal.Commas(result.BeforeTokens), terminal.Commas(result.AfterTokens), terminal.Plural(result.BeforeEvents, "event"), terminal.Commas(result.AfterEvents))
	return err
}

func showContext(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	stats, err := c.cfg.Stack.ContextStats(ctx, c.ref)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, stats)
	return err
}

func showTokens(_ context.Context, c *Chat, _ string, w io.Writer) error {
	_, err := fmt.Fprintln(w, c.cfg.Stack.Tracker(c.ref).Metrics())
	return err
}

func showStats(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	if c.cfg.Stack.Guard == nil {
		return fmt.Errorf("nothing counts what this session spends: the guard is turned off")
	}
	used, err := c.cfg.Stack.Guard.Usage(ctx, c.cfg.sessions(), c.ref)
	if err != nil {
		return err
	}
	if report := c.cfg.Stack.Tracker(c.ref).Report(); report != "" {
		_, _ = fmt.Fprintln(w, report)
	}
	_, _ = fmt.Fprintf(w, "Session: %s, %s in / %s out tokens, %s\n", terminal.Plural(used.ModelCalls, "model call"), terminal.Commas(used.Tokens.PromptTokens), terminal.Commas(used.Tokens.OutputTokens), used.USD)
	if len(used.Models) > 1 {
		for _, m := range used.Models {
			_, _ = fmt.Fprintf(w, "  %s: %s, %s in / %s out tokens, %s\n", terminal.Printable(m.Model), terminal.Plural(m.Calls, "call"), terminal.Commas(m.Tokens.PromptTokens), terminal.Commas(m.Tokens.OutputTokens), m.USD)
		}
	}
	return nil
}

func showCompaction(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	s, err := c.cfg.Stack.Sessions.Status(ctx, c.ref)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "Stored: %s. Shown to the model: %d, summaries among them: %d.\n", terminal.Plural(s.StoredEvents, "event"), s.VisibleEvents, len(s.Summaries))
	_, _ = fmt.Fprintf(w, "Prompt: %s tokens. Compaction at %s, the hard limit is %s, the context window %s.\n",
		terminal.Commas(s.PromptTokens), terminal.Commas(s.TokenThreshold), terminal.Commas(s.HardLimit), terminal.Commas(s.ContextWindow))
	switch {
	case s.Running:
		_, _ = fmt.Fprintln(w, "A compaction is under way.")
	case s.Due:
		_, _ = fmt.Fprintf(w, "A compaction is due (%s).\n", s.Trigger)
	case s.Reason != "":
		_, _ = fmt.Fprintf(w, "Not due: %s.\n", strings.TrimSuffix(s.Reason, "."))
	}
	if s.Failures > 0 {
		_, _ = fmt.Fprintf(w, "The last %s failed: %v\n", terminal.Plural(s.Failures, "attempt"), s.LastError)
	}
	for _, one := range s.Summaries {
		_, _ = fmt.Fprintf(w, "  %s of %s: %s -> %s tokens\n", one.Kind, terminal.Plural(one.Events, "event"), terminal.Commas(one.OriginalTokens), terminal.Commas(one.CompactedTokens))
	}
	return nil
}
