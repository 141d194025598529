package chat

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/activity"
	"github.com/adk-go-ext/longsession/layer/budget"
	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/tokens"
)

// compact summarizes now.
func compact(ctx context.Context, c *Chat, focus string, w io.Writer) error {
	defer c.screen.wait("compacting")()
	result, err := c.cfg.Stack.Sessions.Compact(ctx, c.ref, compaction.CompactOptions{Focus: focus})
	return c.showCompacted(ctx, w, "Context compacted", c.cfg.Stack.Sessions.Settings().OverlapSize, result, err)
}

// done closes a finished task.
func done(ctx context.Context, c *Chat, note string, w io.Writer) error {
	defer c.screen.wait("writing a checkpoint")()
	result, err := c.cfg.Stack.Sessions.Checkpoint(ctx, c.ref, compaction.CheckpointOptions{Note: note})
	return c.showCompacted(ctx, w, "Checkpoint written", 1, result, err)
}

// showCompacted says what a compaction by hand did, what it cost, and when the next is due. kept is how many of the newest
// turns it left as they are.
func (c *Chat) showCompacted(ctx context.Context, w io.Writer, did string, kept int, result compaction.CompactResult, err error) error {
	observed := c.cfg.Compactions.take(c.ref)
	if err != nil {
		return err
	}
	if result.Skipped {
		_, err = fmt.Fprintf(w, "Nothing was summarized: %s.\n", skippedText(strings.TrimSuffix(result.Reason, "."), kept))
		return err
	}
	if _, err = fmt.Fprintf(w, "%s: %s -> %s tokens, %s -> %s. Everything stays readable in the session.\n", did,
		terminal.Commas(result.BeforeTokens), terminal.Commas(result.AfterTokens), terminal.Plural(result.BeforeEvents, "event"), terminal.Commas(result.AfterEvents)); err != nil {
		return err
	}
	var cost string
	for _, o := range observed {
		if o.Outcome == compaction.Stored && o.RecordID == result.RecordID {
			cost = costSentence(o)
		}
	}
	if status, err := c.cfg.Stack.Sessions.Status(ctx, c.ref); err == nil {
		c.screen.note(strings.TrimSpace(cost + " " + nextSentence(status, c.cfg.Stack.Sessions.Settings())))
	}
	return nil
}

// skippedText names the number of turns that stay word for word.
func skippedText(reason string, kept int) string {
	const newest = "the newest turns always stay "
	rest, is := strings.CutPrefix(reason, newest)
	switch {
	case is && kept == 1:
		return "the newest turn always stays " + rest
	case is && kept > 1:
		return fmt.Sprintf("the newest %d turns always stay %s", kept, rest)
	}
	return reason
}

func showContext(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	stats, err := c.cfg.Stack.ContextStats(ctx, c.ref)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, stats)
	return err
}

// showTokens shows the latest request. Before the first one, it estimates the next.
func showTokens(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	if tracker := c.cfg.Stack.Tracker(c.ref); tracker.Budget() != (budget.Budget{}) {
		_, err := fmt.Fprintln(w, tracker.Metrics())
		return err
	}
	s, err := c.cfg.Stack.Sessions.Status(ctx, c.ref)
	if err != nil {
		return err
	}
	percent := 0.0
	if s.EffectiveWindow > 0 {
		percent = 100 * float64(s.PromptTokens) / float64(s.EffectiveWindow)
	}
	_, err = fmt.Fprintf(w, "📊 Context Usage:\n   Tokens: %d / %d (%.1f%% used)\n   Latest turn: none since this chat began, so the tokens are an estimate of the conversation alone\n",
		s.PromptTokens, s.EffectiveWindow, percent)
	return err
}

// showStats writes what the session has used, and the newest turn.
func showStats(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	if tracker := c.cfg.Stack.Tracker(c.ref); len(tracker.Turns()) > 0 {
		if _, err := fmt.Fprintln(w, tracker.Report()); err != nil {
			return err
		}
	}
	if c.cfg.Stack.Guard == nil {
		_, err := fmt.Fprintln(w, "The costs of this session are not counted: the guard is turned off.")
		return err
	}
	used, err := c.cfg.Stack.Guard.Usage(ctx, c.cfg.sessions(), c.ref)
	if err != nil {
		return err
	}
	var b strings.Builder
	row := func(label, count string, in, out int, money string) {
		fmt.Fprintf(&b, "%-16s%s (%d in / %d out tokens, %s)\n", label+":", count, in, out, money)
	}
	row("Session", terminal.Plural(used.ModelCalls, "model call"), used.Tokens.PromptTokens, used.Tokens.OutputTokens, activity.Money(used.USD, len(used.Unpriced) > 0))
	part := func(usd tokens.Nano) string { return activity.Money(usd, usd == 0 && len(used.Unpriced) > 0) } // 0 is not known to be all
	if s := used.Summaries; s.Calls > 0 {
		row("  Summaries", terminal.Plural(s.Calls, "model call"), s.Tokens.PromptTokens, s.Tokens.OutputTokens, part(s.USD))
	}
	if s := used.Subtasks; s.Count > 0 {
		row("  Subtasks", fmt.Sprintf("%d, %s", s.Count, terminal.Plural(s.ModelCalls, "model call")), s.Tokens.PromptTokens, s.Tokens.OutputTokens, activity.Money(s.USD, s.Unpriced))
	}
	if len(used.Models) > 1 {
		fmt.Fprintln(&b, activity.ModelRows(models(used)))
	}
	if used.ModelCalls == 0 && answered(ctx, c) {
		fmt.Fprintln(&b, "The session has answers from before its calls were counted; what they cost is not known.")
	}
	if len(used.Unpriced) > 0 {
		fmt.Fprintf(&b, "The total leaves out %s: the price is not known.\n", terminal.Printable(strings.Join(used.Unpriced, ", ")))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// answered reports whether an agent has said something lately.
func answered(ctx context.Context, c *Chat) bool {
	const lately = 16
	resp, err := c.cfg.Stack.Sessions.Raw(ctx, &session.GetRequest{AppName: c.ref.AppName, UserID: c.ref.UserID, SessionID: c.ref.SessionID, NumRecentEvents: lately})
	if err != nil {
		return false // whatever it is, the figures could be read
	}
	for ev := range resp.Session.Events().All() {
		if ev.Author != genai.RoleUser && !record.Is(ev) {
			return true
		}
	}
	return false
}

func models(used guard.Usage) []activity.Model {
	all := make([]activity.Model, len(used.Models))
	for i, m := range used.Models {
		all[i] = activity.Model{Name: m.Model, Calls: m.Calls, Usage: m.Tokens, USD: m.USD, Unpriced: m.Unpriced || slices.Contains(used.Unpriced, m.Model)}
	}
	return all
}

// showCompaction writes when the next compaction is due, and what the model sees.
func showCompaction(ctx context.Context, c *Chat, _ string, w io.Writer) error {
	s, err := c.cfg.Stack.Sessions.Status(ctx, c.ref)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Stored: %s. Shown to the model: %s, summaries among them: %d.\n",
		terminal.Plural(s.StoredEvents, "event"), terminal.Commas(s.VisibleEvents), len(s.Summaries))
	threshold := "off"
	if s.TokenThreshold > 0 {
		threshold = terminal.Commas(s.TokenThreshold)
	}
	fmt.Fprintf(&b, "Prompt: %s tokens. Token threshold: %s. Hard limit: %s. Context window: %s, %s of them for the reply.\n",
		terminal.Commas(s.PromptTokens), threshold, terminal.Commas(s.HardLimit), terminal.Commas(s.ContextWindow), terminal.Commas(s.ContextWindow-s.EffectiveWindow))
	b.WriteString(dueText(s))
	if c.cfg.Stack.Sessions.Settings().ByPrice {
		b.WriteString(economyText(s))
	}
	b.WriteString(waitingText(s))
	for _, one := range s.Summaries {
		fmt.Fprintf(&b, "  %s of %s: %s -> %s tokens\n", one.Kind, terminal.Plural(one.Events, "event"), terminal.Commas(one.OriginalTokens), terminal.Commas(one.CompactedTokens))
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// economyText says what compactions have cost and saved, and when the next pays, in a line.
func economyText(s compaction.Status) string {
	e := s.Economy
	next := ""
	switch {
	case e.CallsLeft > 0:
		next = fmt.Sprintf(" The next pays in about %s.", terminal.Plural(e.CallsLeft, "call"))
	case e.CallsLeft < 0:
		next = " When the next pays cannot be told yet."
	case s.Due: // otherwise the reason why not has been said
		next = " The next pays now."
	}
	if !e.Priced {
		return fmt.Sprintf("By price, at the usual ratios, because no price of the model %q is known.%s\n", e.Model, next)
	}
	return fmt.Sprintf("By price: compactions have cost %s and saved %s.%s\n", price(e.Spent), price(e.Saved), next)
}

// price writes an amount in USD, rounded up.
func price(amount float64) tokens.Nano {
	return tokens.Nano(math.Ceil(amount * float64(tokens.Dollar)))
}

// waitingText says what is not stored yet, and what cannot be read, a line each.
func waitingText(s compaction.Status) string {
	var b strings.Builder
	for _, line := range []struct {
		n         int
		one, many string
	}{
		{s.WaitingSummaries, "summary is stored with the next message", "summaries are stored with the next message"},
		{s.WaitingCheckpoints, "checkpoint is written when the turn has ended", "checkpoints are written when the turn has ended"},
		{s.UnreadableRecords, "stored record cannot be read; it hides nothing", "stored records cannot be read; they hide nothing"},
	} {
		switch line.n {
		case 0:
		case 1:
			fmt.Fprintf(&b, "1 %s.\n", line.one)
		default:
			fmt.Fprintf(&b, "%s %s.\n", terminal.Commas(line.n), line.many)
		}
	}
	return b.String()
}

// dueText says whether a compaction runs, is due, or what it waits for.
func dueText(s compaction.Status) string {
	var b strings.Builder
	switch {
	case s.Running:
		b.WriteString("A compaction is under way.\n")
	case s.Due:
		fmt.Fprintf(&b, "A compaction is due (%s).\n", s.Trigger)
	case s.Reason == "not due":
		b.WriteString("Nothing is due.\n")
	case s.Reason != "":
		fmt.Fprintf(&b, "Not due: %s.\n", strings.TrimSuffix(s.Reason, "."))
	}
	if s.Failures > 0 {
		fmt.Fprintf(&b, "The last %s failed: %s.", terminal.Plural(s.Failures, "attempt"), terminal.Printable(strings.TrimSuffix(fmt.Sprint(s.LastError), ".")))
		if !s.RetryAt.IsZero() {
			fmt.Fprintf(&b, " The next is made at %s or later.", s.RetryAt.Local().Format(time.TimeOnly))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
