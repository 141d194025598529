package guard

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// load brings the account of a session up to date with what is stored in it. It is called at the beginning of
// each turn, because another process may have worked on the session since the last one.
func (g *Guard) load(ctx context.Context, a *ledger.Account, s session.Session) {
	text, now := storedText(s.State()), g.cfg.Now()
	if a.Loaded() && text != "" && a.Saw(text) {
		return
	}
	defer g.recoverSubtasks(ctx, a, s)
	owner, stored, err := ledger.Decode(text)
	if err == nil && owner == a.Owner() {
		// A client may have sent a state. The newest event of an agent has what was true then.
		if found, in, ok := newest(s, a.Owner()); ok && !stored.AtLeast(in) {
			text, stored = found, in
			conflict(ctx, g, a, "the state has less than the newest event of an agent; that is used")
		}
		if !a.Load(text, stored, now) {
			conflict(ctx, g, a, "storage has less than this process has stored there; the larger totals are used")
		}
		return
	}
	found, in, ok := newest(s, a.Owner())
	switch {
	case ok:
		a.Load(found, in, now)
		conflict(ctx, g, a, "the totals in the state are damaged; those of the newest event are used")
	case hasKey(s.State()) && owner == (ledger.Owner{}):
		if !a.Loaded() {
			a.Load("", ledger.State{}, now)
		}
		conflict(ctx, g, a, "the totals in the state are damaged, and no event has any")
	default:
		a.Load("", ledger.State{}, now)
	}
}

// isNew reports whether a session has no events and no totals.
func isNew(s session.Session) bool {
	return !adk.IsNil(s.Events()) && s.Events().Len() == 0 && storedText(s.State()) == "" && !hasKey(s.State())
}

func hasKey(state session.ReadonlyState) bool {
	if adk.IsNil(state) {
		return false
	}
	value, err := state.Get(StateKey)
	return err == nil && value != nil
}

// newest returns the newest valid snapshot in the events of a session. An event of the user counts only if
// it has no content, as those that Reset writes: the state in others comes from clients.
func newest(s session.Session, owner ledger.Owner) (text string, stored ledger.State, ok bool) {
	events := s.Events()
	if adk.IsNil(events) {
		return "", ledger.State{}, false
	}
	for i := events.Len() - 1; i >= 0; i-- {
		ev := events.At(i)
		if ev == nil || ev.Author == "user" && ev.Content != nil {
			continue
		}
		text, is := ev.Actions.StateDelta[StateKey].(string)
		if !is {
			continue
		}
		if o, stored, err := ledger.Decode(text); err == nil && o == owner {
			return text, stored, true
		}
	}
	return "", ledger.State{}, false
}

// conflict reports which of several stored totals were used.
func conflict(ctx context.Context, g *Guard, a *ledger.Account, reason string) {
	g.observe(ctx, Observation{Kind: Conflict, Session: refOf(a.Owner()), Reason: reason})
}
