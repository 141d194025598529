package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/layer/guard"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/tokens"
)

// Ledger is what a guard had counted for a session when it stored an event.
type Ledger struct {
	// Seq is the number of the event, 0 for totals that were read from the session's state.
	Seq int64 `json:"seq,omitempty"`
	// Total is all of it. Subtasks and Summaries are parts of it.
	Total     Spent `json:"total"`
	Subtasks  Spent `json:"subtasks"`
	Summaries Spent `json:"summaries"`
	// Models is the total by model, by descending cost.
	Models []ModelCosts `json:"models"`
	// Granted is what resets have added to the limits; nil if nothing was added.
	Granted *Granted `json:"granted,omitempty"`
	// Stopped is the bound that refuses the next run, nil if none does.
	Stopped *Stop `json:"stopped,omitempty"`

	owner   string
	granted guard.Limits
}

// Granted is what resets have added to the limits of a session.
type Granted struct {
	USD     float64 `json:"usd,omitempty"`
	Calls   int     `json:"calls,omitempty"`
	Tokens  int     `json:"tokens,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

// Stop is a bound that a session has reached.
type Stop struct {
	// Kind is the kind of bound, such as "cost_ceiling", Scope what it applies to: a turn, a session or
	// a subtask. Spent and Bound are amounts in words.
	Kind  string `json:"kind"`
	Scope string `json:"scope,omitempty"`
	Spent string `json:"spent,omitempty"`
	Bound string `json:"bound,omitempty"`
}

// String is one line: "cost_ceiling of the session: $20.0010 of $20.0000".
func (s Stop) String() string {
	text := s.Kind
	if s.Scope != "" {
		text += " of the " + s.Scope
	}
	if s.Spent != "" {
		text += ": " + s.Spent
	}
	if s.Bound != "" {
		text += " of " + s.Bound
	}
	return text
}

// kinds are the error codes of the events by which a guard may end a turn.
var kinds = []guard.Kind{guard.CostCeiling, guard.ModelCalls, guard.TokenLimit, guard.WallTime, guard.Watchdog}

// ledgerOf returns what an event stores of a guard's totals, nil if nothing. The error says why it cannot
// be read.
func ledgerOf(seq int64, ev *session.Event) (*Ledger, error) {
	if ev == nil {
		return nil, nil
	}
	value, stored := ev.Actions.StateDelta[guard.StateKey]
	if !stored {
		return nil, nil
	}
	return decodeLedger(seq, value)
}

func decodeLedger(seq int64, value any) (*Ledger, error) {
	snapshot, err := guard.Decode(value)
	if err != nil {
		return nil, err
	}
	u := snapshot.Usage
	of := snapshot.Session
	l := &Ledger{
		Seq:       seq,
		Total:     Spent{Calls: u.ModelCalls, Usage: u.Tokens, USD: u.USD},
		Subtasks:  Spent{Calls: u.Subtasks.ModelCalls, Usage: u.Subtasks.Tokens, USD: u.Subtasks.USD},
		Summaries: Spent{Calls: u.Summaries.Calls, Usage: u.Summaries.Tokens, USD: u.Summaries.USD},
		owner:     of.AppName + "/" + of.UserID + "/" + of.SessionID,
		granted:   u.Granted,
	}
	for _, m := range u.Models {
		spent := Spent{Calls: m.Calls, Usage: m.Tokens, USD: m.USD}
		if m.Unpriced {
			spent.Unpriced = m.Calls
		}
		l.Total.Unpriced += spent.Unpriced
		l.Models = append(l.Models, ModelCosts{Priced{Model: m.Model}, spent})
	}
	if g := u.Granted; g != (guard.Limits{}) {
		l.Granted = &Granted{g.USD.USD(), g.ModelCalls, g.Tokens, g.Wall.Seconds()}
	}
	if s := u.Stopped; s != nil {
		l.Stopped = &Stop{string(s.Kind), string(s.Scope), s.Spent, s.Bound}
	}
	return l, nil
}

// change says what a snapshot changes in words, after the one before it: a bound that was reached, and a
// reset. It is empty for one that only counts on.
func (l *Ledger) change(before *Ledger) (stop *Stop, reset string) {
	was, granted := (*Stop)(nil), guard.Limits{}
	if before != nil {
		was, granted = before.Stopped, before.granted
	}
	if l.Stopped != nil && (was == nil || *was != *l.Stopped) {
		stop = l.Stopped
	}
	if l.granted != granted || was != nil && l.Stopped == nil {
		added := guard.ResetOptions{
			AddUSD: l.granted.USD - granted.USD, AddModelCalls: l.granted.ModelCalls - granted.ModelCalls,
			AddTokens: l.granted.Tokens - granted.Tokens, AddWall: l.granted.Wall - granted.Wall,
		}
		reset = added.String()
	}
	return stop, reset
}

// less says which total of a snapshot is below the one before it, "" if none is.
func (l *Ledger) less(before *Ledger) string {
	for _, of := range []struct {
		name     string
		now, was int64
	}{
		{"model calls", int64(l.Total.Calls), int64(before.Total.Calls)},
		{"prompt tokens", int64(l.Total.Usage.PromptTokens), int64(before.Total.Usage.PromptTokens)},
		{"output tokens", int64(l.Total.Usage.OutputTokens), int64(before.Total.Usage.OutputTokens)},
		{"cost in nano-dollars", int64(l.Total.USD), int64(before.Total.USD)},
		{"granted nano-dollars", int64(l.granted.USD), int64(before.granted.USD)},
		{"granted model calls", int64(l.granted.ModelCalls), int64(before.granted.ModelCalls)},
		{"granted tokens", int64(l.granted.Tokens), int64(before.granted.Tokens)},
	} {
		if of.now < of.was {
			return fmt.Sprintf("the %s fell from %d to %d", of.name, of.was, of.now)
		}
	}
	return ""
}

// withLedgers adds to each session what a guard has counted for it, by its state.
func withLedgers(ctx context.Context, snap *persistence.Snapshot, sessions []*Session) error {
	byKey, keys := map[int64]*Session{}, []int64{}
	for _, s := range sessions {
		byKey[s.key], keys = s, append(keys, s.key)
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	var key int64
	var value []byte
	const question = "SELECT session, value FROM session_state WHERE session IN (SELECT value FROM json_each(?)) AND key = ?"
	return answers(ctx, snap, "session_state", question, []any{string(list), guard.StateKey}, []any{&key, &value}, func() {
		var text any
		if s := byKey[key]; s != nil && json.Unmarshal(value, &text) == nil {
			if l, err := decodeLedger(0, text); err == nil && l.owner == s.Name() {
				s.Ledger = l
			}
		}
	})
}

// newestLedger returns the newest snapshot of a session that is stored before an event and names the
// session, nil if there is none.
func newestLedger(ctx context.Context, snap *persistence.Snapshot, s *Session, before int64) (found *Ledger, err error) {
	const question = `SELECT seq, actions FROM events WHERE session = ? AND seq < ? AND instr(CAST(actions AS TEXT), ?) > 0 ORDER BY seq DESC LIMIT 20`
	var seq int64
	var actions []byte
	err = answers(ctx, snap, "events", question, []any{s.key, before, `"` + guard.StateKey + `"`}, []any{&seq, &actions}, func() {
		var of struct {
			StateDelta map[string]any `json:"state_delta"`
		}
		if found != nil || json.Unmarshal(actions, &of) != nil || of.StateDelta[guard.StateKey] == nil {
			return
		}
		if l, err := decodeLedger(seq, of.StateDelta[guard.StateKey]); err == nil && l.owner == s.Name() {
			found = l
		}
	})
	return found, err
}

// Difference compares what a guard counted with what the events show, and with how many answers among them have no
// usage. It is empty if they agree.
func (l *Ledger) Difference(events Spent, uncounted int) string {
	of := func(guard, events int, what string) string {
		switch {
		case guard > events:
			return fmt.Sprintf("%d %s more", guard-events, what)
		case guard < events:
			return fmt.Sprintf("%d %s fewer", events-guard, what)
		}
		return ""
	}
	var parts []string
	for _, part := range []string{
		of(l.Total.Calls, events.Calls, "calls"),
		of(l.Total.Usage.PromptTokens, events.Usage.PromptTokens, "prompt tokens"),
		of(l.Total.Usage.OutputTokens, events.Usage.OutputTokens, "output tokens"),
	} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	more, unpriced := l.Total.USD-events.USD, l.Total.Unpriced > 0 || events.Unpriced > 0
	if more != 0 && !unpriced {
		sign := "more"
		if more < 0 {
			more, sign = -more, "less"
		}
		parts = append(parts, fmt.Sprintf("%v %s", amount(more), sign))
	}
	if len(parts) == 0 {
		return ""
	}
	text := "the guard counted " + parts[0]
	for _, part := range parts[1:] {
		text += ", " + part
	}
	switch {
	case l.Total.Calls > events.Calls && l.Total.Calls <= events.Calls+uncounted:
		return text + ": it counts answers without usage by estimates"
	case l.Total.Calls > events.Calls:
		return text + ": calls of agents in AgentTools, repeated calls and answers that nobody waited for are in no event"
	case l.Total.Calls < events.Calls:
		return text + ": it counts since it was added to the app; events from before, or that another program stored, are not in its totals"
	case l.Total.Usage != events.Usage:
		return text + ": a count was changed, or is of a provider that reports events in another way"
	}
	return text + ": the app's prices differ from those used here"
}

// amount writes money exactly enough to see a difference.
func amount(n tokens.Nano) string {
	if n < tokens.Cent/100 {
		return fmt.Sprintf("%d nano-dollars", int64(n))
	}
	return n.String()
}
