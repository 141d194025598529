package compactiontest

import (
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
)

// seen is what one handle shows: appended events, by their positions, and summaries.
type seen struct {
	events []*session.Event
	// said holds the position of each event, or -1 for a summary and for a response that the view
	// made up.
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

// look reads a handle's events through every method of session.Events.
func (p *play) look(sess session.Session) *seen {
	s := &seen{}
	if adk.IsNil(sess) {
		return s
	}
	events := sess.Events()
	for ev := range events.All() {
		if at := len(s.events); events.At(at) != ev {
			p.add("At(%d) is not the event that All yields there: ADK routes by one and prompts with the other", at)
		}
		position, known := p.keys[keyOf(ev)]
		if !known {
			position = -1
		}
		s.events, s.said = append(s.events, ev), append(s.said, position)
	}
	if n := events.Len(); n != len(s.events) {
		p.add("Len is %d and All yields %d events: a reader that uses Len misses some", n, len(s.events))
	}
	if events.At(-1) != nil || events.At(len(s.events)) != nil {
		p.add("At returns an event outside the list: ADK's services return nil there")
	}
	return s
}

// handleCheck checks what one handle shows of a play.
type handleCheck struct {
	*play
	who  string // the handle
	seen *seen
}

// check checks that the live handle and a new handle show the same, valid view.
func (p *play) check() {
	live, fresh := p.look(p.live), p.look(p.fresh())
	handleCheck{p, "the handle of the turn", live}.check(true)
	handleCheck{p, "a new handle", fresh}.check(!p.unsorted)
	p.checkRules(fresh)
	if p.unsorted || slices.EqualFunc(live.events, fresh.events, func(a, b *session.Event) bool { return keyOf(a) == keyOf(b) }) {
		return
	}
	p.add("the turn's handle and a new handle show different events: positions %v and %v (-1 is a summary)", live.said, fresh.said)
}

// checkCompacted checks that something was compacted: a summary is shown and events are hidden.
func (p *play) checkCompacted() {
	for who, s := range map[string]*seen{"the handle of the turn": p.look(p.live), "a new handle": p.look(p.fresh())} {
		if n := len(s.summaries()); n == 0 || len(s.events)-n >= len(p.said) {
			p.add("after %d turns %s shows %d summaries and %d of %d events: nothing was compacted (Run documents what the stack must do), or the summaries are not shown", p.turns, who, n, len(s.events)-n, len(p.said))
		}
	}
}

// check checks what one handle shows, and the order of it unless storage may have another.
func (p handleCheck) check(inOrder bool) {
	p.checkMembers()
	p.checkHidden()
	p.checkPairs(inOrder)
	p.checkInterrupted()
	p.checkEnds()
	if inOrder {
		p.checkOrder()
	}
}

// checkMembers checks that each event is shown once and unchanged, and that summaries are readable.
func (p handleCheck) checkMembers() {
	for i, ev := range p.seen.events {
		switch {
		case ev == nil:
			p.add("%s shows nil: readers do not expect a nil event", p.who)
		case p.seen.said[i] >= 0 && slices.Contains(p.seen.said[:i], p.seen.said[i]):
			p.add("%s shows event %s twice: the model reads it twice", p.who, p.said[p.seen.said[i]].ID)
		case p.seen.said[i] < 0 && slices.ContainsFunc(p.said, func(said *session.Event) bool { return said.ID == ev.ID }):
			p.add("%s shows event %s with different content than was appended", p.who, ev.ID)
		case p.seen.said[i] < 0 && (ev.Content == nil || ev.Content.Role == "" || len(ev.Content.Parts) == 0):
			p.add("%s shows an event %s that was not appended and has no role or no parts: ADK drops it", p.who, ev.ID)
		}
	}
}

// checkHidden checks that the facts of hidden events are in summaries, and each fact in a summary
// of its own branch.
func (p handleCheck) checkHidden() {
	facts := map[string][]string{}
	for _, summary := range p.seen.summaries() {
		if summary == nil {
			continue
		}
		for _, fact := range histories.FactsIn(summary) {
			facts[fact] = append(facts[fact], adk.Lane(summary))
		}
	}
	for i, ev := range p.said {
		for _, fact := range histories.FactsIn(ev) {
			branches, summarized := facts[fact]
			switch {
			case !summarized && !p.seen.shows(i):
				p.add("%s hides event %s, and no summary has its fact: the model loses what it said", p.who, ev.ID)
			case summarized && slices.ContainsFunc(branches, func(b string) bool { return b != adk.Lane(ev) }):
				p.add("%s shows what event %s of branch %q said in a summary of another branch (%q): it leaks to agents that must not see it", p.who, ev.ID, adk.Lane(ev), branches)
			}
		}
	}
}

// checkPairs checks that a call and its responses are shown together, with the call first.
func (p handleCheck) checkPairs(inOrder bool) {
	calls := map[string]int{}
	for i, ev := range p.said {
		for _, id := range oracle.CallIDs(ev) {
			calls[id] = i
		}
		for _, id := range oracle.ResponseIDs(ev) {
			call := calls[id]
			switch {
			case p.seen.shows(i) && !p.seen.shows(call):
				p.add("%s shows response %s without its call %s: providers reject the prompt, ADK drops the response", p.who, ev.ID, p.said[call].ID)
			case !p.seen.shows(i) && p.seen.shows(call):
				p.add("%s shows call %s without its response %s: the model waits for an answer it already had", p.who, p.said[call].ID, ev.ID)
			case inOrder && p.seen.shows(i) && slices.Index(p.seen.said, call) > slices.Index(p.seen.said, i):
				p.add("%s shows response %s before its call %s: providers reject the prompt", p.who, ev.ID, p.said[call].ID)
			}
		}
	}
}

// checkInterrupted checks that a call without a response is directly followed by a made-up one once
// the user has gone on, and that no other call gets one. For example, a view of "call c1; user: Are
// you there?" must hold a response to c1 between the two.
func (p handleCheck) checkInterrupted() {
	answered := map[string]bool{}
	for _, ev := range p.said {
		for _, id := range oracle.ResponseIDs(ev) {
			answered[id] = true
		}
	}
	for k, position := range p.seen.said {
		if position < 0 {
			continue
		}
		var made []string
		if k+1 < len(p.seen.events) && p.seen.said[k+1] < 0 && oracle.IsStandIn(p.seen.events[k+1]) {
			made = oracle.ResponseIDs(p.seen.events[k+1])
		}
		call := p.said[position]
		for _, id := range oracle.CallIDs(call) {
			waits := slices.Contains(call.LongRunningToolIDs, id) || answered[id]
			switch over := p.goneOn(position); {
			case over && !waits && !slices.Contains(made, id):
				p.add("%s shows call %s, which was interrupted, without a response: providers reject every prompt that holds it", p.who, call.ID)
			case (answered[id] || !over) && slices.Contains(made, id):
				p.add("%s makes up a response to call %s, which has one or may yet get one: the model does not see the real result", p.who, call.ID)
			}
		}
	}
}

// goneOn reports whether the user has spoken in another turn after the event at the given position.
func (p *play) goneOn(position int) bool {
	return slices.ContainsFunc(p.said[position:], func(ev *session.Event) bool {
		return ev.Author == genai.RoleUser && ev.InvocationID != p.said[position].InvocationID
	})
}

// checkEnds checks both ends of a view: ADK routes by the newest agent event and treats the newest
// user event as the message to answer.
func (p handleCheck) checkEnds() {
	for i := len(p.said) - 1; i >= 0; i-- {
		if p.said[i].Author != genai.RoleUser {
			if !p.seen.shows(i) {
				p.add("%s hides %s, the newest event of an agent: ADK routes the next message by it", p.who, p.said[i].ID)
			}
			break
		}
	}
	for i := len(p.seen.events) - 1; i >= 0; i-- {
		if ev := p.seen.events[i]; ev != nil && ev.Author == genai.RoleUser {
			if p.seen.said[i] < 0 {
				p.add("%s shows a summary as the newest event of the user: ADK takes it for the message, and approvals are lost", p.who)
			}
			break
		}
	}
	if len(p.seen.events) > 0 && p.seen.said[0] < 0 && roleOf(p.seen.events[0]) == genai.RoleModel {
		p.add("%s begins with a summary of role model: some providers reject such a prompt", p.who)
	}
}

// checkOrder checks that events are shown in order, except calls that were answered in a later
// turn.
func (p handleCheck) checkOrder() {
	last := -1
	for _, position := range p.seen.said {
		if position < 0 || len(oracle.CallIDs(p.said[position])) > 0 || len(oracle.ResponseIDs(p.said[position])) > 0 {
			continue
		}
		if position < last {
			p.add("%s shows event %s behind later ones: the model reads the conversation in the wrong order", p.who, p.said[position].ID)
		}
		last = max(last, position)
	}
}
