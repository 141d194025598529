package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Tokens selects for the token trigger: everything in the branch that can be summarized, except the
// newest [Params.Retain] events.
//
// There are two kinds of windows, which are never mixed. One is over earlier turns; its summary is
// shown at the front. The other is over what an agent has said and done since the latest event by another author, most
// often the finished tool rounds of a running turn; its summary stays behind that event, which the agent works on.
// Tokens returns the larger window, because the purpose of the trigger is to make room.
//
//	e1 to e8:  earlier turns                      window over turns: e1 to e8, shown at the front
//	e9 user:   "Find the cheapest flight"         pinned, the agent works on it
//	e10 to e49: 20 calls and their responses      window over rounds, shown behind e9
func Tokens(h Input, p Params, branch string) Selection {
	p.inTurn = true
	a := analyze(h, p)
	turns, rounds := a.partition(branch)
	best := a.unlessTooSmall(a.turnsWindow(branch, turns))
	for _, r := range rounds {
		sel, _ := a.pack(branch, a.groups(branch, r.events))
		if !sel.Empty() {
			sel.Agent, sel.After, sel.rest = r.agent, r.after, nil
		}
		sel = a.unlessTooSmall(sel)
		switch {
		case sel.Empty() && (!best.Empty() || best.Reason != NothingEligible):
			// the reason that is known already is the better one
		case best.Empty() || sel.Tokens > best.Tokens:
			best = sel
		}
	}
	return best
}

// agentSpan holds the events of one agent since the latest event by another author, in an active invocation or in those
// that are over.
type agentSpan struct {
	spanKey
	events []int
}

// spanKey identifies an agentSpan: the active invocation, nil for those that are over, the agent, and the event by the other author.
type spanKey struct {
	of    *invocation
	agent string
	after *session.Event
}

// partition sorts the branch's events, except the newest Retain, into the past and the spans of agents that nobody has
// spoken to since. Most often such a span is in the active invocation. It is not if an app runs agents without a message,
// or if ADK v2 puts the messages into the scope of a task below the agent.
func (a *analysis) partition(branch string) (turns []int, rounds []agentSpan) {
	left := a.beforeRetained(branch)
	at := map[spanKey]int{}
	var speakers lastSpeakers
	for i, ev := range a.Events {
		if ev == nil || !adk.Visible(branch, adk.Lane(ev)) {
			continue
		}
		after := speakers.latestBesides(ev.Author)
		speakers.add(ev)
		if adk.Lane(ev) != branch || left <= 0 {
			continue
		}
		left--
		v := a.of[i]
		switch {
		case v == nil:
			turns = append(turns, i)
		case !a.class[i].Is(adk.ByAgent):
			// In an active invocation only agent events are summarized. A user message that another
			// one follows is past: in a bidirectional session one invocation holds many turns.
			if !v.active() || i < v.turn {
				turns = append(turns, i)
			}
		case after == nil:
			turns = append(turns, i) // nobody asked, so the summary has no event to stay behind
		default:
			here := spanKey{agent: ev.Author, after: after}
			if v.active() {
				here.of = v
			}
			k, known := at[here]
			if !known {
				k = len(rounds)
				at[here] = k
				rounds = append(rounds, agentSpan{spanKey: here})
			}
			rounds[k].events = append(rounds[k].events, i)
		}
	}
	// A span that ended because another agent spoke is past as well. An agent with IncludeContents
	// "none" reads nothing from before the other agent's words anyway. And agents that take turns,
	// as a writer and a critic do, would otherwise never have a span that is long enough to be
	// summarized.
	current := rounds[:0]
	for _, r := range rounds {
		if speakers.latestBesides(r.agent) == r.after {
			current = append(current, r)
		} else {
			turns = append(turns, r.events...)
		}
	}
	slices.Sort(turns)
	return turns, current
}

// beforeRetained counts the events of a branch before the newest that stay raw: Retain of them, or fewer if these
// take up more than RetainTokens. A unit that begins before them stays as a whole, see [analysis.groups].
func (a *analysis) beforeRetained(branch string) int {
	before, kept, size := 0, 0, 0
	for _, ev := range slices.Backward(a.Events) {
		if ev == nil || adk.Lane(ev) != branch {
			continue
		}
		if before == 0 && kept < a.Retain {
			if a.RetainTokens > 0 {
				size += a.Size(ev)
			}
			if kept == 0 || size <= a.RetainTokens || a.RetainTokens == 0 {
				kept++
				continue
			}
		}
		before++
	}
	return before
}

// lastSpeakers keeps the latest event, and the latest before it that has another author. Events
// that only change state count too: ADK lets a prompt begin at any event of the user or of another
// agent.
type lastSpeakers struct{ last, before *session.Event }

func (v *lastSpeakers) add(ev *session.Event) {
	if record.RefTo(ev).IsZero() {
		return // no record could refer to it
	}
	if v.last != nil && v.last.Author != ev.Author {
		v.before = v.last
	}
	v.last = ev
}

// latestBesides returns the latest event that is not by author, nil if there is none.
func (v *lastSpeakers) latestBesides(author string) *session.Event {
	if v.last != nil && v.last.Author != author {
		return v.last
	}
	return v.before
}

// turnsWindow selects from earlier turns. The window absorbs the summaries of tool rounds of the
// finished invocations that it touches.
func (a *analysis) turnsWindow(branch string, turns []int) Selection {
	sel, taken := a.pack(branch, a.groups(branch, turns))
	finished := map[*invocation]bool{}
	for _, i := range taken {
		if v := a.of[i]; v != nil && !v.active() {
			finished[v] = true
		}
	}
	a.absorb(&sel, finished)
	return sel
}
