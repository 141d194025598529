package selector

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Tokens selects for the token trigger: whatever the branch can spare but its newest Retain events.
// It offers earlier turns and, apart from them, the finished tool rounds of live invocations; the
// larger of the two comes first, because the trigger is there to make room.
func Tokens(h History, p Params, branch string) Selection {
	p.inTurn = true
	s := newSurvey(h, p)
	turns, rounds := s.spare(branch)
	best := s.grown(s.turnsWindow(branch, turns))
	for _, r := range rounds {
		sel := s.window(branch, s.parcels(branch, r.events))
		if !sel.Empty() {
			sel.Agent, sel.After = r.agent, r.after
		}
		if sel = s.grown(sel); sel.Tokens > best.Tokens || best.Empty() && best.Reason == NothingEligible {
			best = sel
		}
	}
	return best
}

// stretch is what one agent did in a live invocation behind one event.
type stretch struct {
	place
	events []int
}

type place struct {
	of    *invocation
	agent string
	after *session.Event
}

// spare sorts the branch's events, but the newest Retain, into what is past and the stretches of live
// invocations.
func (s *survey) spare(branch string) (turns []int, rounds []stretch) {
	left := -s.Retain
	for _, ev := range s.Events {
		if ev != nil && ev.Branch == branch {
			left++
		}
	}
	at := map[place]int{}
	var voices voices
	for i, ev := range s.Events {
		if ev == nil || !Visible(branch, ev.Branch) {
			continue
		}
		after := voices.other(ev.Author)
		voices.heard(ev)
		if ev.Branch != branch || left <= 0 {
			continue
		}
		left--
		v := s.of[i]
		switch {
		case v == nil || !v.live() || i < v.turn:
			turns = append(turns, i)
		case ev.Author == "user" || ev.Author == "":
			// Of a live invocation only an agent's own events are summarized. What the user said before
			// saying something else is past: in a bidirectional session one invocation holds many turns.
		case after == nil:
			turns = append(turns, i) // nobody asked: there is no event it would have to stay behind
		default:
			here := place{v, ev.Author, after}
			k, known := at[here]
			if !known {
				k = len(rounds)
				at[here] = k
				rounds = append(rounds, stretch{place: here})
			}
			rounds[k].events = append(rounds[k].events, i)
		}
	}
	// What an agent did before another one spoke is past as well: ADK, where it leaves the past out,
	// begins the agent's prompt behind that. Agents that take turns would otherwise never be summarized.
	current := rounds[:0]
	for _, r := range rounds {
		if voices.other(r.agent) == r.after {
			current = append(current, r)
		} else {
			turns = append(turns, r.events...)
		}
	}
	slices.Sort(turns)
	return turns, current
}

// voices remembers who spoke last, and who spoke last before that. Changes of state count: ADK lets a
// prompt begin at any event of the user or another agent, whatever it holds.
type voices struct{ last, before *session.Event }

func (v *voices) heard(ev *session.Event) {
	if record.RefTo(ev).IsZero() {
		return // nothing could refer to it
	}
	if v.last != nil && v.last.Author != ev.Author {
		v.before = v.last
	}
	v.last = ev
}

// other returns the latest event by somebody else than author.
func (v *voices) other(author string) *session.Event {
	if v.last != nil && v.last.Author != author {
		return v.last
	}
	return v.before
}

// turnsWindow is the window over earlier turns. It takes in the summaries of tool rounds of the
// finished invocations that it touches.
func (s *survey) turnsWindow(branch string, turns []int) Selection {
	sel := s.window(branch, s.parcels(branch, turns))
	chosen := map[*session.Event]bool{}
	for _, ev := range sel.Events {
		chosen[ev] = true
	}
	finished := map[*invocation]bool{}
	for _, i := range turns {
		if v := s.of[i]; chosen[s.Events[i]] && v != nil && !v.live() {
			finished[v] = true
		}
	}
	s.absorb(&sel, finished)
	return sel
}
