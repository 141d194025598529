package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
	"github.com/adk-go-ext/longsession/tokens"
)

// StateKey is the key under which a session's state holds its totals: one JSON text. Only the guard may write
// it. A server that passes state from its clients on should remove it there.
const StateKey = "longsession:guard"

// Usage is what a session has used, with its subtasks and summaries.
type Usage struct {
	// USD is the cost of all calls of models whose prices are known, and Unpriced names the others.
	USD      tokens.Nano
	Unpriced []string
	// ModelCalls and Tokens are of all calls. The sum over Models is the same.
	ModelCalls int
	Tokens     tokens.Usage
	// Models is what each model has used, by descending cost.
	Models []ModelUsage
	// Turn is the newest turn.
	Turn TurnUsage
	// Subtasks and Summaries are parts of the totals above.
	Subtasks  SubtaskUsage
	Summaries SummaryUsage
	// Granted is what resets have added to the session's limits.
	Granted Limits
	// Stopped is the bound that refuses the next run, nil if none does.
	Stopped *StopError
}

// ModelUsage is the part of one model.
type ModelUsage struct {
	Model  string
	Calls  int
	Tokens tokens.Usage
	USD    tokens.Nano
	// Unpriced: USD leaves calls out, because the prices of the model are not known.
	Unpriced bool
}

// TurnUsage is the part of one turn.
type TurnUsage struct {
	InvocationID string
	ModelCalls   int
	Tokens       tokens.Usage
	USD          tokens.Nano
}

// SubtaskUsage is the part of the subtasks.
type SubtaskUsage struct {
	Count      int
	ModelCalls int
	Tokens     tokens.Usage
	USD        tokens.Nano
	// Unpriced: USD leaves out calls of models whose prices are not known.
	Unpriced bool
}

// SummaryUsage is the part of the summarizer.
type SummaryUsage struct {
	Calls  int
	Tokens tokens.Usage
	USD    tokens.Nano
}

// Snapshot is what one event stores.
type Snapshot struct {
	Session compaction.SessionRef // whose totals they are
	Usage   Usage
}

// Decode reads a stored snapshot, the value under [StateKey] in a state or in an event's state delta. The error
// says what is wrong with any other value. Usage.Stopped is the bound that was reached when it was stored.
func Decode(value any) (Snapshot, error) {
	text, ok := value.(string)
	if !ok {
		return Snapshot{}, fmt.Errorf("guard: the snapshot is a %T, not a text", value)
	}
	o, s, err := ledger.Decode(text)
	if err != nil {
		return Snapshot{}, fmt.Errorf("guard: %w", err)
	}
	return Snapshot{refOf(o), usageOf(s)}, nil
}

// Stored returns what the stored totals of a session say, and whether there are any. It reads the state, or,
// where that is damaged, the newest event that has valid totals. Usage.Stopped is the bound that was reached when
// they were stored.
func Stored(s session.Session) (Usage, bool) {
	if adk.IsNil(s) {
		return Usage{}, false
	}
	self := ledger.Owner{App: s.AppName(), User: s.UserID(), Session: s.ID()}
	if o, state, err := ledger.Decode(storedText(s.State())); err == nil && o == self {
		return usageOf(state), true
	}
	if _, state, ok := newest(s, self); ok {
		return usageOf(state), true
	}
	return Usage{}, false
}

// Usage returns what a session has used so far, including calls that are not stored yet.
func (g *Guard) Usage(ctx context.Context, svc session.Service, ref compaction.SessionRef) (Usage, error) {
	account, _, err := g.open(ctx, svc, ref)
	if err != nil {
		return Usage{}, err
	}
	now := g.cfg.Now()
	u := usageOf(account.State(now))
	u.Stopped = stopError(account.Refuses(now))
	return u, nil
}

// Refuses returns the bound of g that refuses the next run of a session by the totals stored in it, nil if none does.
// It reads nothing but s, which may have the newest events only, and leaves out calls that are not stored yet: see
// [Guard.Usage] for those.
func Refuses(g *Guard, s session.Session) *StopError {
	if g == nil || adk.IsNil(s) {
		return nil
	}
	account := ledger.Open(ledger.Owner{App: s.AppName(), User: s.UserID(), Session: s.ID()}, g.sessions.session, g.sessions.turn)
	text := storedText(s.State())
	owner, stored, err := ledger.Decode(text)
	valid := err == nil && owner == account.Owner()
	if found, in, ok := newest(s, account.Owner()); ok && !(valid && stored.AtLeast(in)) {
		text, stored, valid = found, in, true
	}
	if !valid {
		return nil
	}
	now := g.cfg.Now()
	account.Load(text, stored, now)
	return stopError(account.Refuses(now))
}

// open returns the account of a session, and the session.
func (g *Guard) open(ctx context.Context, svc session.Service, ref compaction.SessionRef) (*ledger.Account, session.Session, error) {
	if adk.IsNil(svc) {
		return nil, nil, errors.New("guard: the session service is nil: pass the one that the runner uses")
	}
	resp, err := svc.Get(ctx, &session.GetRequest{AppName: ref.AppName, UserID: ref.UserID, SessionID: ref.SessionID})
	if err != nil {
		return nil, nil, fmt.Errorf("guard: reading session %q: %w", ref.SessionID, err)
	}
	account, _ := g.sessions.of(ref, false)
	g.load(ctx, account, resp.Session)
	return account, resp.Session, nil
}

func usageOf(s ledger.State) Usage {
	u := Usage{
		USD: s.Total.USD, Unpriced: slices.Clone(s.Unpriced), ModelCalls: s.Total.Calls, Tokens: s.Total.Usage,
		Turn:      TurnUsage{s.TurnID, s.Turn.Calls, s.Turn.Usage, s.Turn.USD},
		Subtasks:  SubtaskUsage{s.Children, s.Subtasks.Calls, s.Subtasks.Usage, s.Subtasks.USD, s.SubtasksUnpriced},
		Summaries: SummaryUsage{s.Summaries.Calls, s.Summaries.Usage, s.Summaries.USD},
		Granted:   Limits(s.Granted),
	}
	switch {
	case s.Held != nil:
		u.Stopped = stopError(&s.Held.Stop)
	case s.Tripped != nil:
		u.Stopped = stopError(s.Tripped)
	}
	for name, a := range s.Models {
		_, unpriced := slices.BinarySearch(s.Unpriced, name)
		u.Models = append(u.Models, ModelUsage{name, a.Calls, a.Usage, a.USD, unpriced})
	}
	slices.SortFunc(u.Models, func(a, b ModelUsage) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Tokens.Total(), a.Tokens.Total()), cmp.Compare(a.Model, b.Model))
	})
	return u
}
