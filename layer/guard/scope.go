package guard

import (
	"context"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/survive"
	"github.com/adk-go-ext/longsession/layer/guard/internal/ledger"
)

// caller is who makes a model call. An agent has one call in flight at a time in each lane of an
// invocation: its branch and, on ADK v2, its isolation scope.
type caller struct {
	ref                              compaction.SessionRef
	invocation, branch, scope, agent string
}

// callerOf finds out from a context of ADK who makes a call, and which state the session has. A context of the
// app's own, as in a call that no agent makes, has neither.
func callerOf(ctx context.Context) (c caller, state session.ReadonlyState, ok bool) {
	defer survive.Else("guard: who calls", func() { c, state, ok = caller{}, nil, false }) // a context of another make may panic where it has no session
	if in := adk.Invocation(ctx); in != nil {
		s := in.Session()
		if adk.IsNil(s) {
			return caller{}, nil, false
		}
		c = caller{ref: adk.RefOf(s), invocation: in.InvocationID()}
		c.branch, c.scope = adk.SplitLane(adk.LaneOf(in))
		if !adk.IsNil(in.Agent()) {
			c.agent = in.Agent().Name()
		}
		return c, s.State(), true
	}
	in, ok := ctx.(agent.ReadonlyContext)
	if !ok || adk.IsNil(in) || in.SessionID() == "" {
		return caller{}, nil, false
	}
	c = caller{ref: compaction.SessionRef{AppName: in.AppName(), UserID: in.UserID(), SessionID: in.SessionID()}, invocation: in.InvocationID(), agent: in.AgentName()}
	c.branch, c.scope = adk.SplitLane(adk.ContextLane(in))
	return c, in.ReadonlyState(), true
}

// observation is an observation about a caller.
func (c caller) observation(kind ObservationKind, payer ledger.Payer) Observation {
	o := Observation{Kind: kind, Session: c.ref, Agent: c.agent, Branch: c.branch, InvocationID: c.invocation}
	if payer.Account != nil {
		o.Session = refOf(payer.Account.Owner())
	}
	return o
}

// payerOf returns who pays for the calls of a caller:
//
//   - the subtask that the context belongs to;
//   - the session itself, if the plugin has seen its run;
//   - for an agent that runs as a tool, the session of its caller. ADK copies the state of that session into
//     the inner one, and the snapshot in there names its owner and the turn;
//   - else the session itself. Then known is false, because its totals are not stored.
func (g *Guard) payerOf(ctx context.Context, c caller, state session.ReadonlyState) (p ledger.Payer, known bool) {
	if child := g.childOf(ctx); child != nil {
		if child.ref == c.ref {
			p, _ = child.account.Begin(c.invocation, g.cfg.Now())
			return p, true
		}
		return child.account.Turn(""), true
	}
	account, hooked := g.sessions.peek(c.ref)
	if hooked {
		p, _ = account.Begin(c.invocation, g.cfg.Now())
		return p, true
	}
	if p, known := g.inner.Get(c.ref); known {
		return p, true
	}
	if p, known := g.sessions.callerPays(c, state); known {
		g.inner.Add(c.ref, p)
		return p, true
	}
	account, _ = g.sessions.of(c.ref, false)
	if o, stored, err := ledger.Decode(storedText(state)); err == nil && refOf(o) == c.ref && !account.Loaded() {
		account.Load(storedText(state), stored, g.cfg.Now())
	}
	p, _ = account.Begin(c.invocation, g.cfg.Now())
	return p, false
}

// callerPays returns the turn that the snapshot in an inner session's state names, or another one of that
// session: the snapshot of a tool that runs after a confirmation is of the turn before, and that of one of two
// turns at once may be of the other. It must be running, so that a made-up snapshot reaches no other session than
// one that works at this moment.
func (s *sessions) callerPays(c caller, state session.ReadonlyState) (ledger.Payer, bool) {
	o, stored, err := ledger.Decode(storedText(state))
	if err != nil || refOf(o) == c.ref {
		return ledger.Payer{}, false
	}
	account, _ := s.peek(refOf(o))
	if account == nil {
		return ledger.Payer{}, false
	}
	return account.Running(stored.TurnID)
}

// storedText is the snapshot in a state, "" if there is none.
func storedText(state session.ReadonlyState) string {
	if adk.IsNil(state) {
		return ""
	}
	value, err := state.Get(StateKey)
	if err != nil {
		return ""
	}
	text, _ := value.(string)
	return text
}
