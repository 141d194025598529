package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Tokens selects for the token trigger: whatever the branch can spare but its newest Retain events.
// It offers earlier turns and, apart from them, the finished tool rounds of live invocations; the
// larger of the two comes first, because the trigger is there to make room.
func Tokens(h Input, p Params, branch string) Selection {
	p.inTurn = true
	s := analyze(h, p)
	turns, rounds := s.partition(branch)
	best := s.unlessTooSmall(s.turnsWindow(branch, turns))
	for _, r := range rounds {
		sel := s.windowOf(branch, s.groups(branch, r.events))
		if !sel.Empty() {
			sel.Agent, sel.After = r.agent, r.after
		}
		if sel = s.unlessTooSmall(sel); sel.Tokens > best.Tokens || best.Empty() && best.Reason == NothingEligible {
			best = sel
		}
	}
	return best
}

// agentSpan is what one agent did in a live invocation behind one event.
type agentSpan struct {
	spanKey
	events []int
}

type spanKey struct {
	of    *invocation
	agent string
	after *session.Event
}

// partition sorts the branch's events, but the newest Retain, into what is past and the stretches of live
// invocations.
func (s *analysis) partition(branch string) (turns []int, rounds []agentSpan) {
	left := -s.Retain
	for _, ev := range s.Events {
		if ev != nil && ev.Branch == branch {
			left++
		}
	}
	at := map[spanKey]int{}
	var speakers lastSpeakers
	for i, ev := range s.Events {
		if ev == nil || !adk.Visible(branch, ev.Branch) {
			continue
		}
		after := speakers.latestBesides(ev.Author)
		speakers.add(ev)
		if ev.Branch != branch || left <= 0 {
			continue
		}
		left--
		v := s.of[i]
		switch {
		case v == nil || !v.active() || i < v.turn:
			turns = append(turns, i)
		case !s.class[i].Is(adk.ByAgent):
			// Of a live invocation only an agent's own events are summarized. What the user said before
			// saying something else is past: in a bidirectional session one invocation holds many turns.
		case after == nil:
			turns = append(turns, i) // nobody asked: there is no event it would have to stay behind
		default:
			here := spanKey{v, ev.Author, after}
			k, known := at[here]
			if !known {
				k = len(rounds)
				at[here] = k
				rounds = append(rounds, agentSpan{spanKey: here})
			}
			rounds[k].events = append(rounds[k].events, i)
		}
	}
	// What an agent did before another one spoke is past as well: ADK, where it leaves the past out,
	// begins the agent's prompt behind that. Agents that take turns would otherwise never be summarized.
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

// lastSpeakers remembers who spoke last, and who spoke last before that. Changes of state count: ADK lets a
// prompt begin at any event of the user or another agent, whatever it holds.
type lastSpeakers struct{ last, before *session.Event }

func (v *lastSpeakers) add(ev *session.Event) {
	if record.RefTo(ev).IsZero() {
		return // nothing could refer to it
	}
	if v.last != nil && v.last.Author != ev.Author {
		v.before = v.last
	}
	v.last = ev
}

// latestBesides returns the latest event by somebody else than author.
func (v *lastSpeakers) latestBesides(author string) *session.Event {
	if v.last != nil && v.last.Author != author {
		return v.last
	}
	return v.before
}

// turnsWindow is the window over earlier turns. It takes in the summaries of tool rounds of the
// finished invocations that it touches.
func (s *analysis) turnsWindow(branch string, turns []int) Selection {
	sel := s.windowOf(branch, s.groups(branch, turns))
	chosen := map[*session.Event]bool{}
	for _, ev := range sel.Events {
		chosen[ev] = true
	}
	finished := map[*invocation]bool{}
	for _, i := range turns {
		if v := s.of[i]; chosen[s.Events[i]] && v != nil && !v.active() {
			finished[v] = true
		}
	}
	s.absorb(&sel, finished)
	return sel
}
