package chat

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/record"
)

// mostTold is how many compactions wait to be told. The older ones of more are forgotten: the commands still show them.
const mostTold = 20

// Compactions remembers what compactions did until the chat tells the person. Set it as the observer of the stack's
// compaction and as Config.Compactions. The zero value is ready to use. It is safe for concurrent use.
type Compactions struct {
	// Next is told of everything, too. It may be nil.
	Next func(context.Context, compaction.Observation)

	mu      sync.Mutex
	done    []compaction.Observation
	started func(o compaction.Observation) // shows that one is under way; nil for nobody
}

// Observe is for compaction.Config.Observer.
func (c *Compactions) Observe(ctx context.Context, o compaction.Observation) {
	switch o.Outcome {
	case compaction.Started:
		c.mu.Lock()
		started := c.started
		c.mu.Unlock()
		if started != nil {
			started(o)
		}
	case compaction.Stored, compaction.Waiting, compaction.Failed:
		c.mu.Lock()
		c.done = append(c.done, o)
		c.done = c.done[max(0, len(c.done)-mostTold):]
		c.mu.Unlock()
	}
	if c.Next != nil {
		c.Next(ctx, o)
	}
}

// listen has the chat told of each compaction that begins.
func (c *Compactions) listen(started func(o compaction.Observation)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = started
}

// take returns what happened to a session since the last call, and forgets it.
func (c *Compactions) take(ref compaction.SessionRef) []compaction.Observation {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var taken, kept []compaction.Observation
	for _, o := range c.done {
		if o.Session == ref {
			taken = append(taken, o)
		} else {
			kept = append(kept, o)
		}
	}
	c.done = kept
	return taken
}

// tellCompactions shows a sentence for each compaction that has ended, and when the next is due.
func (c *Chat) tellCompactions(ctx context.Context) {
	all := c.cfg.Compactions.take(c.ref)
	told := map[string]bool{} // a summary that waits is stored later
	for _, o := range all {
		if o.Outcome == compaction.Failed {
			c.screen.note(fmt.Sprintf("The conversation was not summarized: %v. It stays as it is.", o.Err))
			continue
		}
		if o.Outcome == compaction.Stored && told[o.RecordID] {
			continue
		}
		told[o.RecordID] = true
		c.screen.note(compactionSentence(o))
	}
	if len(told) == 0 || c.cfg.Stack == nil {
		return
	}
	if status, err := c.cfg.Stack.Sessions.Status(ctx, c.ref); err == nil {
		c.screen.note(nextSentence(status, c.cfg.Stack.Sessions.Settings()))
	}
}

// compactionSentence says what a compaction did: what was summarized, tokens before and after, what it cost.
func compactionSentence(o compaction.Observation) string {
	did := "Summarized " + terminal.Plural(o.Events, "event")
	switch {
	case o.Trigger != record.TriggerMerge:
	case o.Events > 1:
		did = fmt.Sprintf("Merged %d summaries", o.Events)
	case o.TokensAfter > o.TokensBefore: // there is room again for all that it says
		did = "Restored a summary that had been cut"
	default:
		did = "Shortened a summary"
	}
	text := fmt.Sprintf("%s: %s -> %s tokens.", did, terminal.Commas(o.TokensBefore), terminal.Commas(o.TokensAfter))
	return strings.TrimSpace(text + " " + costSentence(o))
}

// costSentence says what a compaction cost, "" if it took no model.
func costSentence(o compaction.Observation) string {
	switch {
	case o.Cost > 0:
		return fmt.Sprintf("It cost %s.", price(o.Cost))
	case o.Usage.Total() > 0:
		return fmt.Sprintf("It took %s tokens; the model has no known price.", terminal.Commas(o.Usage.Total()))
	}
	return ""
}

// nextSentence says when the next compaction is due: at a size of the prompt, after so many turns since the newest summary, or
// when it pays.
func nextSentence(s compaction.Status, settings compaction.Settings) string {
	at := fmt.Sprintf("the hard limit of %s tokens", terminal.Commas(s.HardLimit))
	switch {
	case s.Due:
		return "The next is due now."
	case s.TokenThreshold > 0:
		at = fmt.Sprintf("%s tokens", terminal.Commas(s.TokenThreshold))
	}
	if settings.InvocationThreshold > 0 {
		at += fmt.Sprintf(" or after %s", terminal.Plural(settings.InvocationThreshold, "turn"))
	}
	if settings.ByPrice {
		at += " or when it pays"
		if s.Economy.CallsLeft > 0 {
			at += fmt.Sprintf(", in about %s", terminal.Plural(s.Economy.CallsLeft, "call"))
		}
	}
	return fmt.Sprintf("The next is due at %s; the prompt has %s.", at, terminal.Commas(s.PromptTokens))
}
