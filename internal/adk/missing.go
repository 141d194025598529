package adk

import (
	"google.golang.org/genai"

	"google.golang.org/adk/session"
)

// Missing is a call that nothing answers, not even with a placeholder.
type Missing struct {
	// Event is the position of the event with the call.
	Event int
	Call  *genai.FunctionCall
	// Waits says that the call is long-running or awaits a confirmation, so that an answer may come
	// at any time.
	Waits bool
	// Over says that the call's invocation is over: a message of the user that belongs to another
	// invocation stands behind the call, and an agent in the call's branch sees it. Whether the
	// invocation still runs somewhere, in another process for instance, nobody can tell; the new
	// invocation sends prompts in any case.
	Over bool
}

// Missing returns the calls that nothing answers, in order. It leaves out the calls by which ADK asks
// the user for something, because ADK leaves them out of every prompt, and calls without an ID,
// because it cannot be told what answers them.
func (u *Units) Missing() []Missing {
	var out []Missing
	for _, s := range u.sites {
		if !s.answered && s.call.ID != "" && Prompted(s.call.Name) {
			out = append(out, Missing{Event: u.from + int(s.event), Call: s.call, Waits: s.patient, Over: s.over})
		}
	}
	return out
}

// Asks reports whether an event with the given calls asks a person to confirm a call of one of the IDs.
func Asks(ev *session.Event, calls []*genai.FunctionCall, ids map[string]bool) bool {
	if len(ids) == 0 || ev == nil {
		return false
	}
	for _, call := range calls {
		if ids[confirmedCall(call)] {
			return true
		}
	}
	for id := range ev.Actions.RequestedToolConfirmations {
		if ids[id] {
			return true
		}
	}
	return false
}

// Overtakes reports whether message, which stands behind call, shows that the invocation of call is
// over.
func Overtakes(message, call *session.Event) bool {
	return message.InvocationID != call.InvocationID && Visible(call.Branch, message.Branch)
}

// messages holds, for each branch, the two newest messages of the user that belong to different
// invocations: whatever invocation a call belongs to, one of them is the newest of another one.
type messages struct {
	of map[string]*[2]message
	// branch is that of the newest message, which is nearly always the next one's too.
	branch string
	last   *[2]message
}

type message struct {
	at int32 // 0 for none: a message at position 0 stands behind nothing
	in string
}

func (m *messages) note(i int32, ev *session.Event) {
	if !Classify(ev).Is(Message) {
		return
	}
	if m.last == nil || m.branch != ev.Branch {
		m.branch, m.last = ev.Branch, m.of[ev.Branch]
		if m.last == nil {
			m.last = &[2]message{}
			if m.of == nil {
				m.of = map[string]*[2]message{}
			}
			m.of[ev.Branch] = m.last
		}
	}
	if m.last[0].in != ev.InvocationID {
		m.last[1] = m.last[0]
	}
	m.last[0] = message{i, ev.InvocationID}
}

// overtake reports whether a message stands behind the event at position i and shows that its
// invocation is over.
func (m *messages) overtake(i int32, ev *session.Event) bool {
	for branch, last := range m.of {
		for _, msg := range last {
			if msg.at > i && msg.in != ev.InvocationID && Visible(ev.Branch, branch) {
				return true
			}
		}
	}
	return false
}

// markOver finds the calls without an answer whose invocations are over.
func (g *grouping) markOver(overtaken func(*session.Event) bool) {
	for k := range g.sites {
		s := &g.sites[k]
		if s.answered {
			continue
		}
		ev := g.events[s.event]
		s.over = g.messages.overtake(s.event, ev) || overtaken != nil && overtaken(ev)
	}
}
