package guard

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/configerr"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/tokens"
)

// ResetOptions is what [Guard.Reset] adds to the limits of a session. The zero value adds nothing.
type ResetOptions struct {
	AddUSD        tokens.Nano
	AddModelCalls int
	AddTokens     int
	AddWall       time.Duration
}

// ResetError is the error of a reset that would not be enough.
type ResetError struct {
	// Stopped is the bound that would stay reached.
	Stopped *StopError
	// Missing is what the session goes on with, for each bound that stops it: enough for a call like its last one that is
	// not the last again, rounded up to a cent, a thousand tokens or a second.
	Missing ResetOptions
}

// Error says what to add.
func (e *ResetError) Error() string {
	var add []string
	note := func(is bool, format string, value any) {
		if is {
			add = append(add, fmt.Sprintf(format, value))
		}
	}
	note(e.Missing.AddUSD > 0, "AddUSD: guard.Dollars(%.2f)", e.Missing.AddUSD.USD())
	note(e.Missing.AddModelCalls > 0, "AddModelCalls: %d", e.Missing.AddModelCalls)
	note(e.Missing.AddTokens > 0, "AddTokens: %d", e.Missing.AddTokens)
	note(e.Missing.AddWall > 0, "AddWall: %v", e.Missing.AddWall)
	return fmt.Sprintf("guard: the session stays stopped (%s: %s of %s): add %s or more, or configure a higher limit",
		e.Stopped.Kind, e.Stopped.Spent, e.Stopped.Bound, strings.Join(add, ", "))
}

// Unwrap returns the stop.
func (e *ResetError) Unwrap() error { return e.Stopped }

// Reset lets a stopped session go on: after a turn has reached its cost ceiling or has landed below it, or, with more
// budget, after the session has reached a bound or has landed below it. Totals go on counting. If what is added is not enough, Reset does nothing and
// returns a [*ResetError] that says how much is missing.
//
// Reset appends an event without content to the session, through svc, which must be the service that the
// runner uses. Call it between two runs: over a database service it makes the handle of a run in progress
// stale.
func (g *Guard) Reset(ctx context.Context, svc session.Service, ref compaction.SessionRef, opts ResetOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	account, s, err := g.open(ctx, svc, ref)
	if err != nil {
		return err
	}
	now := g.cfg.Now()
	if account.Refuses(now) == nil && opts == (ResetOptions{}) {
		return nil // nothing to do
	}
	more := ledger.Limits{USD: opts.AddUSD, ModelCalls: opts.AddModelCalls, Tokens: opts.AddTokens, Wall: opts.AddWall}
	still, missing, undo := account.Grant(more, now)
	if still != nil {
		return &ResetError{stopError(still), ResetOptions{missing.USD, missing.ModelCalls, missing.Tokens, missing.Wall}}
	}
	if err := store(ctx, svc, s, account, now); err != nil {
		undo()
		return fmt.Errorf("guard: storing the reset of session %q: %w", ref.SessionID, err)
	}
	g.observe(ctx, Observation{Kind: Reset, Session: ref, Reason: opts.String()})
	return nil
}

// store appends an event that only has the totals.
func store(ctx context.Context, svc session.Service, s session.Session, account *ledger.Account, now time.Time) error {
	text, _ := account.Write(now)
	ev := session.NewEventWithContext(ctx, "")
	ev.Author = "user"
	ev.Actions.StateDelta = map[string]any{StateKey: text}
	if err := svc.AppendEvent(ctx, s, ev); err != nil {
		return err
	}
	account.Saw(text)
	return nil
}

// String says what is added.
func (o ResetOptions) String() string {
	var added []string
	note := func(is bool, format string, value any) {
		if is {
			added = append(added, fmt.Sprintf(format, value))
		}
	}
	note(o.AddUSD > 0, "%v", o.AddUSD)
	note(o.AddModelCalls > 0, "%d model calls", o.AddModelCalls)
	note(o.AddTokens > 0, "%d tokens", o.AddTokens)
	note(o.AddWall > 0, "%v", o.AddWall)
	if len(added) == 0 {
		return "added nothing"
	}
	return "added " + strings.Join(added, ", ")
}

// maxAdded is the most that a reset adds, and that a total can be: nine million dollars, 104 days, or as many units.
const maxAdded = 1 << 53

func (o ResetOptions) check() error {
	var p configerr.Problems
	refuse := func(field string, value int64, given, most any) {
		if value < 0 || value > maxAdded {
			p.Refuse(field, given, "add 0 or more, and at most %v", most)
		}
	}
	refuse("AddUSD", int64(o.AddUSD), o.AddUSD, tokens.Nano(maxAdded))
	if o.AddUSD > 0 && o.AddUSD < minUSD {
		p.Refuse("AddUSD", int64(o.AddUSD), tooSmall)
	}
	refuse("AddModelCalls", int64(o.AddModelCalls), o.AddModelCalls, int64(maxAdded))
	refuse("AddTokens", int64(o.AddTokens), o.AddTokens, int64(maxAdded))
	refuse("AddWall", int64(o.AddWall), o.AddWall, time.Duration(maxAdded))
	return p.Join("guard reset")
}
