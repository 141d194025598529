package selector

import (
	"slices"

	"google.golang.org/genai"

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
	a.pinSpeakers()
	a.pinConfirmed()
	a.pinAnchors()
	a.pinFinished()
	if adk.ResumesRuns {
		a.pinNodes()
	}
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

// mark sets the given positions.
func mark(set []bool, positions []int) {
	for _, i := range positions {
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

// maxAgents is of how many authors the newest event stays raw: those that have written last. It only bounds sessions in
// which an app gives new names to agents again and again.
const maxAgents = 64

// pinSpeakers keeps the newest event of every author, whatever it holds. ADK goes back to the newest agent event whose
// agent may answer the next message, over any number of events and invocations, and only ADK knows which agents may:
// findAgentToRun in runner/runner.go. It starts a remote agent's prompt behind that agent's newest event, and finds there
// the conversation on the other side: toMissingRemoteSessionParts in agent/remoteagent/v2/utils.go. And it looks for a
// decision on a confirmation in the newest event of the user alone, see pinConfirmed.
//
//	e1 assistant: transfers to flow       kept: nobody can transfer to worker, so assistant answers the next message
//	e2 worker:    calls a tool
//	...
//	e90 worker:   "Done."                 kept
//	e91 user:     "Thanks."               kept
func (a pinner) pinSpeakers() {
	seen := map[string]bool{}
	for i, ev := range slices.Backward(a.Events) {
		if ev == nil || ev.Author == "" || seen[ev.Author] {
			continue
		}
		seen[ev.Author] = true
		a.pinned[i] = true
		if len(seen) == maxAgents {
			return
		}
	}
}

// pinConfirmed keeps what the newest event of the user decides on: the requests for a confirmation that it answers, and
// the responses that the confirmed tools have given since. Before every call of a model, ADK runs each confirmed tool
// that has no response behind that event: RequestConfirmationRequestProcessor in
// internal/llminternal/request_confirmation_processor.go.
//
//	e1 bot:  calls refund() as x
//	e2 bot:  the response to x: it requires a confirmation
//	e3 bot:  asks to confirm x                                 kept
//	e4 user: confirms                                          kept
//	e5 bot:  the response to x: 20 dollars were refunded       kept, or the tool would run again; and so e1 and e2
func (a pinner) pinConfirmed() {
	decision := -1
	for i := len(a.Events) - 1; i >= 0 && decision < 0; i-- {
		if a.class[i].Is(adk.ByUser) {
			decision = i
		}
	}
	if decision < 0 || !a.class[decision].Is(adk.Responds) {
		return
	}
	decided := adk.ResponseIDs(a.Events[decision])
	confirmed := map[string]bool{}
	for i, ev := range a.Events {
		for _, call := range adk.FunctionCalls(ev) {
			if id := adk.ConfirmedCall(call); id != "" && slices.Contains(decided, call.ID) {
				confirmed[id], a.pinned[i] = true, true
			}
		}
	}
	for i, ev := range a.Events[decision+1:] {
		if slices.ContainsFunc(adk.ResponseIDs(ev), func(id string) bool { return confirmed[id] }) {
			a.pinned[decision+1+i] = true
		}
	}
}

// pinNodes keeps what ADK reads of the workflows that run, see [adk.RunEvents], and what the view shows of one because the
// user goes on with it: only the call stays of a workflow that waits.
func (a pinner) pinNodes() {
	needed := adk.RunEvents(a.Events, func(id string) bool { v := a.byID[id]; return v != nil && v.active() })
	if i := adk.Resumed(a.Events); i >= 0 {
		needed = append(needed, adk.RunEvents(a.Events[:i], func(id string) bool { return id == a.Events[i].InvocationID })...)
	}
	mark(a.pinned, needed)
	a.pinRefused()
}

// maxRefused is how many answers stay raw because they may have been refused. An answer to the last node of a workflow looks
// the same if it was taken, so there may be one for every run. A person corrects an answer soon.
const maxRefused = 8

// pinRefused keeps the newest answers that nodes may not have taken, with the calls, so that the user can answer again. ADK
// refuses an answer that does not match the schema that the node has asked for, and takes no answer that comes along with one
// for another run. In both cases the node waits on, and nothing is stored: Resume in workflow/resume.go.
func (a pinner) pinRefused() {
	wroteOn, left := map[string]bool{}, maxRefused
	for i, ev := range slices.Backward(a.Events) {
		if adk.InWorkflow(ev) {
			wroteOn[ev.InvocationID] = true
		}
		if left > 0 && adk.AnswersInput(ev) && slices.ContainsFunc(a.units.Of(i), func(j int) bool {
			call := a.Events[j]
			return j < i && !wroteOn[call.InvocationID] && (call.InvocationID != ev.InvocationID || adk.AsksBySchema(call))
		}) {
			a.pinned[i] = true
			left--
		}
	}
}

// finishTask is the function by which an agent in an isolation scope ends its task.
const finishTask = "finish_task"

// pinFinished keeps the ends of tasks. ADK v2 takes a scope for active, and puts the user's next message into it, unless it
// finds the response that ended it: findActiveTaskIsolationScope in runner/runner.go. A process with ADK v1 may summarize
// a session of a file that one with v2 goes on with.
func (a pinner) pinFinished() {
	for i, ev := range a.Events {
		if ev == nil {
			continue
		}
		if _, scope := adk.SplitLane(adk.Lane(ev)); scope != "" && slices.ContainsFunc(adk.FunctionResponses(ev), func(r *genai.FunctionResponse) bool { return r.Name == finishTask }) {
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

// mustStayInPlace reports whether m summarizes tool rounds that must stay where they are: since the event that m is
// shown behind only m's agent has spoken.
func (a *analysis) mustStayInPlace(m *record.Metadata) bool {
	if !m.MidTurn() {
		return false
	}
	i, ok := a.index.Find(m.After)
	if !ok { // the event is not at hand: while the turn runs, leave the summary where the record puts it
		v := a.byID[m.EndInvocationID]
		return v != nil && v.active()
	}
	return a.speakersIn(m.Branch).latestBesides(m.Agent) == a.Events[i]
}

// lastWords returns the agent that has written last in a branch, and the position of the newest event by another author
// that it sees: all that it has said since lies behind that event. The position is -1 if there is no such event, or if
// no agent has written last.
func (a *analysis) lastWords(branch string) (agent string, after int) {
	of := a.speakersIn(branch)
	if of.last == nil || of.before == nil || !adk.Classify(of.last).Is(adk.ByAgent) {
		return "", -1
	}
	i, ok := a.index.Find(record.RefTo(of.before))
	if !ok {
		return "", -1
	}
	return of.last.Author, i
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
			if ev != nil && adk.Visible(branch, record.Normalize(adk.Lane(ev))) {
				speakers.add(ev)
			}
		}
	}
	return speakers
}
