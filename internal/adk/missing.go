package adk

import (
	"maps"

	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Missing is a call without any response, not even a placeholder.
type Missing struct {
	// Event is the position of the event with the call.
	Event int
	Call  *genai.FunctionCall
	// Waits means that the call is long-running or needs a confirmation: an answer may come at any
	// time.
	Waits bool
	// Over means that the call's invocation is over: behind the call is a message of the user from
	// another invocation, which an agent in the call's branch sees. The old invocation may still
	// run, in another process for instance, but the new one sends prompts in any case.
	//
	//	e1 user, inv 1: "Is it cold?"
	//	e2 bot,  inv 1: calls weather()     over: the process was killed before the tool returned
	//	e3 user, inv 2: "Hello?"
	Over bool
}

// Missing returns the calls without any response, in order. It leaves out calls that prompts do not
// contain, see [Prompted], and calls without an ID, because their responses cannot be recognized.
func (u *Units) Missing() []Missing {
	var out []Missing
	for _, s := range u.sites {
		if !s.answered && s.call.ID != "" && Prompted(s.call.Name) {
			out = append(out, Missing{Event: int(s.event), Call: s.call, Waits: s.patient, Over: s.over})
		}
	}
	return out
}

// RequestedConfirmations returns the IDs of the calls that an event asks a person to confirm.
func RequestedConfirmations(ev *session.Event) []string {
	var ids []string
	for _, part := range parts(ev) {
		if part == nil || part.FunctionCall == nil {
			continue
		}
		if id := ConfirmedCall(part.FunctionCall); id != "" {
			ids = append(ids, id)
		}
	}
	if ev != nil {
		for id := range ev.Actions.RequestedToolConfirmations {
			ids = append(ids, id)
		}
	}
	return ids
}

// Overtakes reports whether a message of the user that is behind an event with calls shows that the
// invocation of the calls is over, see [Missing].
func Overtakes(message, call *session.Event) bool {
	return message.InvocationID != call.InvocationID && Visible(Lane(call), Lane(message))
}

// messages holds the two newest messages of each branch that belong to different invocations. Two
// are enough: whichever invocation a call belongs to, one of the two is the newest message of
// another one.
type messages struct {
	of map[string]*[2]message
	// branch and last are those of the newest message: the next one is nearly always of the same
	// branch.
	branch string
	last   *[2]message
}

type message struct {
	at int32 // position, 0 for none: no call is before position 0
	in string
}

func (m *messages) note(i int32, ev *session.Event) {
	if !Classify(ev).Is(Message) {
		return
	}
	if m.last == nil || m.branch != Lane(ev) {
		m.branch, m.last = Lane(ev), m.of[Lane(ev)]
		if m.last == nil {
			m.last = &[2]message{}
			if m.of == nil {
				m.of = map[string]*[2]message{}
			}
			m.of[Lane(ev)] = m.last
		}
	}
	if m.last[0].in != ev.InvocationID {
		m.last[1] = m.last[0]
	}
	m.last[0] = message{i, ev.InvocationID}
}

// overtake reports whether a message behind event i shows that its invocation is over.
func (m *messages) overtake(i int32, ev *session.Event) bool {
	for branch, last := range m.of {
		for _, msg := range last {
			if msg.at > i && msg.in != ev.InvocationID && Visible(Lane(ev), branch) {
				return true
			}
		}
	}
	return false
}

// tasks returns the names of the agents that were given tasks, and the events in which that was done. The call of a task
// stays open over turns, until the task is finished; its ID is the isolation scope of the events of the task, and its name
// that of the agent. If a task has no event yet, an event of its agent in another scope, another call of the same name, or
// one in the same event, shows that the call is one of a task. The newest event of each agent stays when its earlier tasks
// are summarized.
func (g *grouping) tasks() (names map[string]bool, with map[int32]bool) {
	if len(g.scopes) == 0 {
		return nil, nil
	}
	names, with = maps.Clone(g.workers), map[int32]bool{}
	for k := range g.sites {
		if s := &g.sites[k]; g.scopes[s.call.ID] {
			names[s.call.Name], with[s.event] = true, true
		}
	}
	return names, with
}

// markOver finds the calls without a response whose invocations are over.
func (g *grouping) markOver(overtaken func(*session.Event) bool) {
	tasks, with := g.tasks()
	for k := range g.sites {
		s := &g.sites[k]
		if s.answered || tasks[s.call.Name] || with[s.event] {
			continue
		}
		ev := g.events[s.event]
		s.over = g.messages.overtake(s.event, ev) || overtaken != nil && overtaken(ev)
	}
}
