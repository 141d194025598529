package selector

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// pin marks what stays raw whatever the trigger, and then the whole unit of each such event.
func (s *analysis) pin() {
	s.pinned = make([]bool, len(s.Events))
	s.held = make([]bool, len(s.Events))
	s.giveUpOldest()
	s.pinQuestions()
	s.pinRouting()
	s.pinRemoteAgents()
	s.pinAnchors()
	for i, ev := range s.Events {
		if ev != nil && s.Pin != nil && s.Pin(ev) {
			s.pinned[i] = true
		}
	}
	s.units.Each(func(members []int) {
		if slices.ContainsFunc(members, func(i int) bool { return s.pinned[i] }) {
			mark(s.pinned, members)
			return
		}
		if s.units.Open(members[0]) && !s.givenUp[members[0]] || s.mayReturn(members) {
			mark(s.pinned, members)
			mark(s.held, members)
		}
	})
}

// mayReturn reports whether a tool of a unit may still return although the user has gone on in another
// invocation: its own is known to be running.
func (s *analysis) mayReturn(members []int) bool {
	return slices.ContainsFunc(members, func(i int) bool {
		v := s.byID[s.Events[i].InvocationID]
		return v != nil && v.running && s.interrupted[i]
	})
}

// giveUpOldest marks the units that wait for somebody but for the newest [MaxWaiting] of them: their events
// may be summarized, as what they are. An answer may come at any time, so age says nothing; only the
// number is bounded, or calls that nobody ever answers would fill the view.
func (s *analysis) giveUpOldest() {
	var waiting []int // a member of each unit, the oldest unit first
	s.units.Each(func(members []int) {
		if s.units.Waiting(members[0]) && !slices.ContainsFunc(members, s.covered) {
			waiting = append(waiting, members[0])
		}
	})
	s.givenUp = map[int]bool{}
	for _, i := range waiting[:max(0, len(waiting)-MaxWaiting)] {
		for _, j := range s.units.Of(i) {
			s.givenUp[j] = true
		}
	}
	s.interrupted = map[int]bool{}
	for _, m := range s.units.Missing() {
		s.interrupted[m.Event] = s.interrupted[m.Event] || m.Over && !m.Waits
	}
}

func mark(set []bool, members []int) {
	for _, i := range members {
		set[i] = true
	}
}

// pinQuestions keeps the opening of every live invocation. What the user said last in it stays too,
// because of a live invocation only an agent's own events are summarized, or what came before that.
func (s *analysis) pinQuestions() {
	for _, v := range s.invocations {
		if v.opening >= 0 && (v.active() || s.goesOn(v)) {
			s.pinned[v.opening] = true
		}
	}
}

// goesOn reports whether an invocation that ends in an answer may still send prompts: a workflow that
// is known to run, beside one newer invocation. The end of a run cannot be told for certain, so only
// the token trigger, which may fire in the middle of one, asks.
func (s *analysis) goesOn(v *invocation) bool {
	return s.inTurn && v.running && v.ordinal >= len(s.invocations)-2
}

// pinRouting keeps the newest agent event, by which ADK finds the agent for the next message, and
// in its invocation the newest event of every author: ADK passes over agents that cannot be
// transferred to, and goes on to the one that called them. Events of another invocation may lie
// between.
func (s *analysis) pinRouting() {
	var newest *invocation
	seen := map[string]bool{}
	for i := len(s.Events) - 1; i >= 0; i-- {
		ev := s.Events[i]
		if !s.class[i].Is(adk.ByAgent) {
			continue
		}
		if len(seen) == 0 {
			newest = s.of[i]
		}
		if s.of[i] == newest && !seen[ev.Author] {
			seen[ev.Author] = true
			s.pinned[i] = true
		}
	}
}

func (s *analysis) pinRemoteAgents() {
	seen := map[string]bool{}
	for i := len(s.Events) - 1; i >= 0; i-- {
		if ev := s.Events[i]; s.class[i].Is(adk.Remote) && !seen[ev.Author] {
			seen[ev.Author] = true
			s.pinned[i] = true
		}
	}
}

// pinAnchors keeps the events that summaries of tool rounds stand behind, until those summaries are
// taken in by a window over their invocation.
func (s *analysis) pinAnchors() {
	for _, m := range s.Current {
		if !s.mustStayInPlace(m) {
			continue
		}
		if i, ok := s.index.Find(m.After); ok {
			s.pinned[i] = true
		}
	}
}

// mustStayInPlace reports whether m summarizes tool rounds that must stay where they are: those that the agent
// who speaks did in an invocation that lives.
func (s *analysis) mustStayInPlace(m *record.Metadata) bool {
	if v := s.byID[m.EndInvocationID]; !m.MidTurn() || v == nil || !v.active() {
		return false
	}
	i, ok := s.index.Find(m.After)
	if !ok {
		return true
	}
	if s.speakers == nil {
		s.speakers = map[string]*lastSpeakers{}
	}
	speakers := s.speakers[m.Branch]
	if speakers == nil {
		speakers = &lastSpeakers{}
		s.speakers[m.Branch] = speakers
		for _, ev := range s.Events {
			if ev != nil && adk.Visible(m.Branch, record.Normalize(ev.Branch)) {
				speakers.add(ev)
			}
		}
	}
	return speakers.latestBesides(m.Agent) == s.Events[i]
}
