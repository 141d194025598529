package selector

import (
	"slices"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// pinner fills in what an analysis knows of events that stay raw: pinned, held, givenUp and
// interrupted.
type pinner struct{ *analysis }

// pin marks the events that stay raw under every trigger, each with its whole unit.
func (a pinner) pin() {
	a.pinned = make([]bool, len(a.Events))
	a.held = make([]bool, len(a.Events))
	a.giveUpOldest()
	a.findInterrupted()
	a.pinQuestions()
	a.pinRouting()
	a.pinRemoteAgents()
	a.pinAnchors()
	for i, ev := range a.Events {
		if ev != nil && a.Pin != nil && a.Pin(ev) {
			a.pinned[i] = true
		}
	}
	// Now the units: one pinned member pins all of them, and so does a call that still waits.
	a.units.Each(func(members []int) {
		if slices.ContainsFunc(members, func(i int) bool { return a.pinned[i] }) {
			mark(a.pinned, members)
			return
		}
		if a.units.Open(members[0]) && !a.givenUp[members[0]] || a.mayReturn(members) {
			mark(a.pinned, members)
			mark(a.held, members)
		}
	})
}

// mayReturn reports whether a tool of a unit may still return although the user has gone on in
// another invocation. That is so if the unit's own invocation is known to be running.
func (a pinner) mayReturn(members []int) bool {
	return slices.ContainsFunc(members, func(i int) bool {
		v := a.byID[a.Events[i].InvocationID]
		return v != nil && v.running && a.interrupted[i]
	})
}

// giveUpOldest marks the units that wait for a person, except the newest [MaxWaiting]. A person may
// answer at any time, so age does not count. But the number must be bounded, or calls that nobody
// ever answers would fill the view.
func (a pinner) giveUpOldest() {
	var waiting []int // the first member of each unit, the oldest unit first
	a.units.Each(func(members []int) {
		if a.units.Waiting(members[0]) && !slices.ContainsFunc(members, a.covered) {
			waiting = append(waiting, members[0])
		}
	})
	a.givenUp = map[int]bool{}
	for _, i := range waiting[:max(0, len(waiting)-MaxWaiting)] {
		for _, j := range a.units.Of(i) {
			a.givenUp[j] = true
		}
	}
}

// findInterrupted marks the events whose calls no tool will answer any more, because the user has
// gone on in another invocation.
func (a pinner) findInterrupted() {
	a.interrupted = map[int]bool{}
	for _, m := range a.units.Missing() {
		a.interrupted[m.Event] = a.interrupted[m.Event] || m.Over && !m.Waits
	}
}

// mark sets the members of a unit.
func mark(set []bool, members []int) {
	for _, i := range members {
		set[i] = true
	}
}

// pinQuestions keeps the opening of every active invocation. The user's later messages in it need
// no pin: in an active invocation, only agent events and anything before the latest message can be
// summarized.
func (a pinner) pinQuestions() {
	for _, v := range a.invocations {
		if v.opening >= 0 && (v.active() || a.goesOn(v)) {
			a.pinned[v.opening] = true
		}
	}
}

// goesOn reports whether an invocation that ends in an answer may still send prompts: a workflow
// that is known to run, with at most one newer invocation. The end of a run is never reported for
// certain, so only the token trigger uses this: it alone may fire in the middle of a turn.
func (a *analysis) goesOn(v *invocation) bool {
	return a.inTurn && v.running && v.ordinal >= len(a.invocations)-2
}

// pinRouting keeps the newest agent event, and the newest event of every other agent of the same
// invocation. ADK uses these to find the agent that answers the next message: findAgentToRun in
// runner/runner.go goes back to the newest agent that it may transfer to.
//
//	e1 root:   transfers to worker            kept: if worker cannot be transferred to, root answers
//	e2 worker: calls a tool
//	e3 worker: "Done."                        kept: the newest agent event
func (a pinner) pinRouting() {
	var newest *invocation
	seen := map[string]bool{}
	for i := len(a.Events) - 1; i >= 0; i-- {
		ev := a.Events[i]
		if !a.class[i].Is(adk.ByAgent) {
			continue
		}
		if len(seen) == 0 {
			newest = a.of[i]
		}
		if a.of[i] == newest && !seen[ev.Author] {
			seen[ev.Author] = true
			a.pinned[i] = true
		}
	}
}

// pinRemoteAgents keeps the newest event of every remote agent. ADK uses its metadata to find the
// conversation on the other side, and sends the remote agent only the events after it.
func (a pinner) pinRemoteAgents() {
	seen := map[string]bool{}
	for i := len(a.Events) - 1; i >= 0; i-- {
		if ev := a.Events[i]; a.class[i].Is(adk.Remote) && !seen[ev.Author] {
			seen[ev.Author] = true
			a.pinned[i] = true
		}
	}
}

// pinAnchors keeps the events behind which summaries of tool rounds are shown, for as long as those
// summaries must stay there.
func (a pinner) pinAnchors() {
	for _, m := range a.Current {
		if !a.mustStayInPlace(m) {
			continue
		}
		if i, ok := a.index.Find(m.After); ok {
			a.pinned[i] = true
		}
	}
}

// mustStayInPlace reports whether m summarizes tool rounds that must stay where they are: the
// invocation is active, and since the event that m is shown behind only m's agent has spoken.
func (a *analysis) mustStayInPlace(m *record.Metadata) bool {
	if v := a.byID[m.EndInvocationID]; !m.MidTurn() || v == nil || !v.active() {
		return false
	}
	i, ok := a.index.Find(m.After)
	if !ok {
		return true // the event is not at hand: leave the summary where the record puts it
	}
	return a.speakersIn(m.Branch).latestBesides(m.Agent) == a.Events[i]
}

// speakersIn returns the latest speakers that an agent in a branch sees.
func (a *analysis) speakersIn(branch string) *lastSpeakers {
	if a.speakers == nil {
		a.speakers = map[string]*lastSpeakers{}
	}
	speakers := a.speakers[branch]
	if speakers == nil {
		speakers = &lastSpeakers{}
		a.speakers[branch] = speakers
		for _, ev := range a.Events {
			if ev != nil && adk.Visible(branch, record.Normalize(ev.Branch)) {
				speakers.add(ev)
			}
		}
	}
	return speakers
}
