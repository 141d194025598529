package compactiontest

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
)

// seen is what one handle shows: events that were said, by their positions, and summaries.
type seen struct {
	events []*session.Event
	// said holds the position of each event, -1 for a summary or a response that the view made up.
	said []int
}

func (s *seen) summaries() []*session.Event {
	var out []*session.Event
	for i, ev := range s.events {
		if s.said[i] < 0 && !oracle.IsStandIn(ev) {
			out = append(out, ev)
		}
	}
	return out
}

func (s *seen) shows(position int) bool { return slices.Contains(s.said, position) }

// look reads a handle, in all the ways there are.
func (p *play) look(sess session.Session) *seen {
	s := &seen{}
	if sess == nil {
		return s
	}
	events := sess.Events()
	for ev := range events.All() {
		if at := len(s.events); events.At(at) != ev {
			p.add("At(%d) is not the event that All yields there: the agent is routed by one and prompted with the other", at)
		}
		position, known := p.keys[keyOf(ev)]
		if !known {
			position = -1
		}
		s.events, s.said = append(s.events, ev), append(s.said, position)
	}
	if n := events.Len(); n != len(s.events) {
		p.add("Len is %d and All yields %d events: whoever goes by the length misses some", n, len(s.events))
	}
	if events.At(-1) != nil || events.At(len(s.events)) != nil {
		p.add("At gives an event outside of the list: ADK's services give nil there")
	}
	return s
}

// check looks at both handles: they must show a good view, and the same.
func (p *play) check() {
	live, fresh := p.look(p.live), p.look(p.fresh())
	p.checkSeen("the handle of the turn", live, true)
	p.checkSeen("a new handle", fresh, !p.unsorted)
	p.checkRules(fresh)
	if p.unsorted || slices.EqualFunc(live.events, fresh.events, func(a, b *session.Event) bool { return keyOf(a) == keyOf(b) }) {
		return
	}
	p.add("the handle of the turn shows other events than a new one: positions %v and %v (-1 is a summary)", live.said, fresh.said)
}

// checkCompacted checks that there is something to check: a summary, and events hidden behind it.
func (p *play) checkCompacted() {
	for who, s := range map[string]*seen{"the handle of the turn": p.look(p.live), "a new handle": p.look(p.fresh())} {
		if n := len(s.summaries()); n == 0 || len(s.events)-n >= len(p.said) {
			p.add("after %d turns %s shows %d summaries and %d of %d events: nothing was compacted (see Run for what the stack must be like), or it is not shown", p.turns, who, n, len(s.events)-n, len(p.said))
		}
	}
}

func (p *play) checkSeen(who string, s *seen, inOrder bool) {
	p.checkMembers(who, s)
	p.checkHidden(who, s)
	p.checkPairs(who, s, inOrder)
	p.checkInterrupted(who, s)
	p.checkEnds(who, s)
	if inOrder {
		p.checkOrder(who, s)
	}
}

// checkMembers: nothing is shown twice or changed, and summaries can be read.
func (p *play) checkMembers(who string, s *seen) {
	for i, ev := range s.events {
		switch {
		case ev == nil:
			p.add("%s shows nil: readers do not expect that", who)
		case s.said[i] >= 0 && slices.Contains(s.said[:i], s.said[i]):
			p.add("%s shows event %s twice: the model reads it twice", who, p.said[s.said[i]].ID)
		case s.said[i] < 0 && slices.ContainsFunc(p.said, func(said *session.Event) bool { return said.ID == ev.ID }):
			p.add("%s shows event %s with other content than was said", who, ev.ID)
		case s.said[i] < 0 && (ev.Content == nil || ev.Content.Role == "" || len(ev.Content.Parts) == 0):
			p.add("%s shows an event %s that nobody said and that has no role or no parts: ADK drops it", who, ev.ID)
		}
	}
}

// checkHidden: the facts of what is not shown are in the summaries, each in one of its own branch.
func (p *play) checkHidden(who string, s *seen) {
	facts := map[string][]string{}
	for _, summary := range s.summaries() {
		if summary == nil {
			continue
		}
		for _, fact := range FactsIn(summary) {
			facts[fact] = append(facts[fact], summary.Branch)
		}
	}
	for i, ev := range p.said {
		for _, fact := range FactsIn(ev) {
			branches, summarized := facts[fact]
			switch {
			case !summarized && !s.shows(i):
				p.add("%s hides event %s, and no summary has its fact: what it said is lost to the model", who, ev.ID)
			case summarized && slices.ContainsFunc(branches, func(b string) bool { return b != ev.Branch }):
				p.add("%s shows what event %s of branch %q said in a summary of another branch (%q): it leaks to agents that must not see it", who, ev.ID, ev.Branch, branches)
			}
		}
	}
}

// checkPairs: a call and its responses are shown together, the call in front.
func (p *play) checkPairs(who string, s *seen, inOrder bool) {
	calls := map[string]int{}
	for i, ev := range p.said {
		for _, id := range oracle.CallIDs(ev) {
			calls[id] = i
		}
		for _, id := range oracle.ResponseIDs(ev) {
			call := calls[id]
			switch {
			case s.shows(i) && !s.shows(call):
				p.add("%s shows response %s without its call %s: providers refuse the prompt, ADK drops the response", who, ev.ID, p.said[call].ID)
			case !s.shows(i) && s.shows(call):
				p.add("%s shows call %s without its response %s: the model waits for an answer that it had", who, p.said[call].ID, ev.ID)
			case inOrder && s.shows(i) && slices.Index(s.said, call) > slices.Index(s.said, i):
				p.add("%s shows response %s before its call %s: providers refuse the prompt", who, ev.ID, p.said[call].ID)
			}
		}
	}
}

// checkInterrupted: a call that nobody answers, though the user has gone on, has a response directly behind
// it, and the response of no other call is made up.
func (p *play) checkInterrupted(who string, s *seen) {
	answered := map[string]bool{}
	for _, ev := range p.said {
		for _, id := range oracle.ResponseIDs(ev) {
			answered[id] = true
		}
	}
	for k, position := range s.said {
		if position < 0 {
			continue
		}
		var made []string
		if k+1 < len(s.events) && s.said[k+1] < 0 && oracle.IsStandIn(s.events[k+1]) {
			made = oracle.ResponseIDs(s.events[k+1])
		}
		call := p.said[position]
		for _, id := range oracle.CallIDs(call) {
			waits := slices.Contains(call.LongRunningToolIDs, id) || answered[id]
			switch over := p.goneOn(position); {
			case over && !waits && !slices.Contains(made, id):
				p.add("%s shows call %s, which was interrupted, without a response: providers refuse every prompt that holds it", who, call.ID)
			case (answered[id] || !over) && slices.Contains(made, id):
				p.add("%s makes up a response to call %s, which has one or may yet get one: the model does not learn the result", who, call.ID)
			}
		}
	}
}

// goneOn reports whether the user said something after the event at a position in another turn.
func (p *play) goneOn(position int) bool {
	return slices.ContainsFunc(p.said[position:], func(ev *session.Event) bool {
		return ev.Author == genai.RoleUser && ev.InvocationID != p.said[position].InvocationID
	})
}

// checkEnds: ADK routes by the newest agent event, and takes the newest user event for the message.
func (p *play) checkEnds(who string, s *seen) {
	for i := len(p.said) - 1; i >= 0; i-- {
		if p.said[i].Author != genai.RoleUser {
			if !s.shows(i) {
				p.add("%s hides %s, the newest event of an agent: ADK routes the next message by it", who, p.said[i].ID)
			}
			break
		}
	}
	for i := len(s.events) - 1; i >= 0; i-- {
		if ev := s.events[i]; ev != nil && ev.Author == genai.RoleUser {
			if s.said[i] < 0 {
				p.add("%s shows a summary as the newest event of the user: ADK takes it for the message, approvals are lost", who)
			}
			break
		}
	}
	if len(s.events) > 0 && s.said[0] < 0 && roleOf(s.events[0]) == genai.RoleModel {
		p.add("%s begins with a summary of role model: some providers refuse a prompt that does", who)
	}
}

// checkOrder: what was said is shown in order, but for calls whose answer came in a later turn.
func (p *play) checkOrder(who string, s *seen) {
	last := -1
	for _, position := range s.said {
		if position < 0 || len(oracle.CallIDs(p.said[position])) > 0 || len(oracle.ResponseIDs(p.said[position])) > 0 {
			continue
		}
		if position < last {
			p.add("%s shows event %s behind later ones: the conversation reads differently from what happened", who, p.said[position].ID)
		}
		last = max(last, position)
	}
}
