package selector

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// DetailArg is the argument in which a call of the checkpoint tool says what was finished.
const DetailArg = "detail"

// Asked is the checkpoint that the model has asked for in a branch: with calls of the checkpoint tool
// that are visible, and that no checkpoint of the branch answers yet.
//
// A checkpoint answers the calls up to its Through. If one of them is of the turn that went on behind it,
// it answers the later calls of that turn too: one turn has one checkpoint. Only calls of this process's
// agents ask: a function call in a message of the user or in the words of a remote agent does not. A call
// whose response is an error does not ask either, because the tool did not run.
type Asked struct {
	// Selection is the window of the checkpoint. It ends with the invocation of the latest call, so it
	// holds nothing that was said about a later task. That invocation itself stays raw until a later
	// one is complete. An empty window has the reason.
	Selection
	// Calls are the events that ask, in the order of the view, and Details what they say was
	// finished, without repetitions.
	Calls   []*session.Event
	Details []string
	// Part means that the summarizer cannot read everything in one call. The window is the oldest
	// part, and the rest is enough for the checkpoint itself.
	Part bool
	// Waits means that there may be a window later, although there is none now: the turn goes on, or
	// the turn of the latest call may be summarized once another one has ended. If neither is so and
	// the window is empty, the call remains a note.
	Waits bool
}

// Checkpoint finds the checkpoint that calls of a tool in a branch ask for, with a window of at least
// minTokens. It returns nil if no call asks for one.
//
//	turns 1 to 4                          window: turns 1 to 4, once turn 5 has ended
//	turn 5: calls mark_task_done
//
//	turn 1: calls mark_task_done          waits: turn 1 stays raw as long as it is the newest
//	turn 2                                window: turn 1, once turn 2 has ended
func Checkpoint(h Input, p Params, branch, tool string, minTokens int) *Asked {
	asked, a := checkpoint(h, p, branch, tool, minTokens)
	if asked != nil {
		asked.Part = asked.Cut && a.leavesEnough(asked.Events, branch, tool, minTokens)
	}
	return asked
}

// checkpoint is [Checkpoint] without Part, for which it would have to look behind its own window.
func checkpoint(h Input, p Params, branch, tool string, minTokens int) (*Asked, asker) {
	if tool == "" || !slices.ContainsFunc(h.Events, func(ev *session.Event) bool { return ev != nil && adk.Lane(ev) == branch && calls(ev, tool) }) {
		return nil, asker{}
	}
	a := asker{analyze(h, p)}
	asked, last := a.asked(branch, tool)
	if last == nil {
		return nil, a
	}
	if last.running && !last.complete() {
		asked.Selection, asked.Waits = Selection{Reason: NotDue, Branch: branch, Through: a.newestOf(branch)}, true
		return asked, a
	}
	complete := a.in(branch, (*invocation).complete)
	followed := len(complete) > 0 && complete[len(complete)-1].ordinal > last.ordinal
	finished := slices.DeleteFunc(complete, func(v *invocation) bool {
		return v.ordinal > last.ordinal || v == last && !followed
	})
	asked.Selection = a.window(a.backlog(branch, finished, 0))
	if !asked.Empty() && asked.Tokens < minTokens {
		asked.Selection = Selection{Reason: TooSmall, Branch: branch, Through: asked.Through}
	}
	asked.Waits = asked.Empty() && (!followed || asked.Reason == Blocked)
	return asked, a
}

// asker finds out what calls of the checkpoint tool ask for.
type asker struct{ *analysis }

// leavesEnough reports whether there is a checkpoint to write once a window is summarized.
func (a asker) leavesEnough(window []*session.Event, branch, tool string, minTokens int) bool {
	taken := make(map[*session.Event]bool, len(window))
	for _, ev := range window {
		taken[ev] = true
	}
	rest, covered := a.Input, a.Covered
	rest.Covered = func(ev *session.Event) bool { return taken[ev] || covered != nil && covered(ev) }
	next, _ := checkpoint(rest, a.Params, branch, tool, minTokens)
	return next != nil && !next.Empty()
}

// asked collects the calls that no checkpoint answers, and returns the invocation of the latest.
func (a asker) asked(branch, tool string) (*Asked, *invocation) {
	asked, answered := &Asked{}, a.answeredBy(branch)
	served := map[*invocation]bool{} // their calls have a checkpoint
	var last *invocation
	for i, ev := range a.Events {
		if ev == nil || adk.Lane(ev) != branch || !calls(ev, tool) || a.of[i] == nil {
			continue
		}
		details, asks := a.detailsOf(i, tool)
		switch {
		case !asks:
		case answered(i):
			served[a.of[i]] = true
		case served[a.of[i]], a.covered(i): // of the same turn, or summarized with the rest
		default:
			asked.Calls = append(asked.Calls, ev)
			for _, detail := range details {
				if detail != "" && !slices.Contains(asked.Details, detail) {
					asked.Details = append(asked.Details, detail)
				}
			}
			if last == nil || a.of[i].ordinal > last.ordinal {
				last = a.of[i]
			}
		}
	}
	return asked, last
}

// detailsOf returns what the calls of event i say was finished, and whether any of them asks for a
// checkpoint.
func (a asker) detailsOf(i int, tool string) (details []string, asks bool) {
	for _, call := range adk.FunctionCalls(a.Events[i]) {
		if call.Name == tool && !a.refused(i, call) {
			detail, _ := call.Args[DetailArg].(string)
			details, asks = append(details, strings.TrimSpace(detail)), true
		}
	}
	return details, asks
}

// Asks reports whether an event may ask for a checkpoint: an agent of this process calls the tool.
func Asks(ev *session.Event, tool string) bool { return tool != "" && ev != nil && calls(ev, tool) }

// calls reports whether an agent of this process calls the tool.
func calls(ev *session.Event, tool string) bool {
	if !slices.ContainsFunc(adk.FunctionCalls(ev), func(call *genai.FunctionCall) bool { return call.Name == tool }) {
		return false
	}
	class := adk.Classify(ev)
	return class.Is(adk.ByAgent) && !class.Is(adk.Remote)
}

// refused reports whether the response to a call of event i is an error.
func (a asker) refused(i int, call *genai.FunctionCall) bool {
	for _, j := range a.units.Of(i) {
		for _, response := range adk.FunctionResponses(a.Events[j]) {
			if response.ID == call.ID && response.Name == call.Name && response.Response["error"] != nil {
				return true
			}
		}
	}
	return false
}

// answeredBy returns a function that reports whether a checkpoint reaches event i. Where the event that
// a checkpoint reaches to is not loaded or not visible, its time decides.
func (a asker) answeredBy(branch string) func(i int) bool {
	position, moment := -1, time.Time{}
	for _, m := range a.Current {
		through := m.CheckpointThrough
		if m.Kind == record.KindCheckpoint {
			through = m.Through
		}
		if m.Branch != record.Normalize(branch) || through.IsZero() {
			continue
		}
		if i, ok := a.index.Find(through); ok {
			position = max(position, i)
		} else if through.Timestamp.After(moment) {
			moment = through.Timestamp
		}
	}
	return func(i int) bool {
		return i <= position || !moment.IsZero() && !a.Events[i].Timestamp.Truncate(time.Microsecond).After(moment)
	}
}
