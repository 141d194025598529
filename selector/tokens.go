package selector

import (
	"slices"

	"google.golang.org/adk/session"
)

// Tokens selects for the token trigger: whatever the branch can spare but its newest Retain events.
// It offers earlier turns and, apart from them, the finished tool rounds of live invocations; the
// larger of the two comes first, because the trigger is there to make room.
func Tokens(h History, p Params, branch string) Selection {
	s := newSurvey(h, p)
	turns, rounds := s.spare(branch)
	best := s.grown(s.turnsWindow(branch, turns))
	for _, r := range rounds {
		sel := s.window(branch, r.events)
		if !sel.Empty() {
			sel.Agent, sel.After = r.agent, r.after
		}
		if sel = s.grown(sel); sel.Tokens > best.Tokens || best.Empty() && best.Reason == NothingEligible {
			best = sel
		}
	}
	return best
}

// stretch is a run of one agent's events in a live invocation that stand behind the same event.
type stretch struct {
	agent  string
	after  *session.Event
	events []int
}

// spare sorts the branch's events, but the newest Retain, into those of earlier turns and the
// stretches of live invocations.
func (s *survey) spare(branch string) (turns []int, rounds []stretch) {
	left := -s.Retain
	for _, ev := range s.Events {
		if ev != nil && ev.Branch == branch {
			left++
		}
	}
	var voices voices
	for i, ev := range s.Events {
		if left <= 0 {
			break
		}
		if ev == nil || !Visible(branch, ev.Branch) {
			continue
		}
		after := voices.other(ev.Author)
		if conversational(ev) {
			voices.heard(ev)
		}
		if ev.Branch != branch {
			continue
		}
		left--
		v := s.of[i]
		switch {
		case v == nil || !v.live() || i < v.turn:
			turns = append(turns, i)
		case ev.Author == "user":
			// Of a live invocation only an agent's own events are summarized.
		case after == nil:
			turns = append(turns, i) // nobody asked: there is no event it would have to stay behind
		default:
			k := slices.IndexFunc(rounds, func(r stretch) bool { return r.agent == ev.Author && r.after == after })
			if k < 0 {
				k = len(rounds)
				rounds = append(rounds, stretch{agent: ev.Author, after: after})
			}
			rounds[k].events = append(rounds[k].events, i)
		}
	}
	return turns, rounds
}

// voices remembers who spoke last, and who spoke last before that.
type voices struct{ last, before *session.Event }

func (v *voices) heard(ev *session.Event) {
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
	sel := s.window(branch, turns)
	if sel.Empty() {
		return sel
	}
	chosen := map[*session.Event]bool{}
	for _, ev := range sel.Events {
		chosen[ev] = true
	}
	var touched []*invocation
	for _, i := range turns {
		if v := s.of[i]; chosen[s.Events[i]] && v != nil && !v.live() && !slices.Contains(touched, v) {
			touched = append(touched, v)
		}
	}
	sel.Absorb = s.absorbable(branch, touched)
	for _, m := range sel.Absorb {
		sel.Tokens += m.CompactedTokens
	}
	return sel
}
