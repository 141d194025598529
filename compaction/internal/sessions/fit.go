package sessions

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction/internal/meter"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/promptsize"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/layer/toolresult"
)

// minShown is the least that is shown of a text, in tokens.
const minShown = 48

// fitting is the last resort of a session whose requests nobody else keeps within the window: if the view is
// over the hard limit although all was summarized that may be, readers are shown only the beginning and the
// end of what is largest in it. How much follows from the view, from the window, and from what the provider has
// counted. ADK's own calls and the answers to them stay as they are, because ADK reads in the session which call a person
// has confirmed, and with what. So do calls without a response: what a task of ADK v2 is given is read in the call that
// delegates it, until it is done. So does the user's newest message: if it is too large, the provider says so. Summaries
// stay whole, too. The view itself, which summaries are written from, never changes. A workflow that goes on finds its
// events whole in any case.
func (h *Handle) fitting(events *view.Snapshot) *view.Snapshot {
	// The limits are nil until the agent's model is known.
	tight := h.State.Prompts.Limits() != nil && !h.Listed && !h.isAhead && !h.owner.fits
	resumed := h.resumed.Load()
	if !tight && resumed == nil {
		return events
	}
	last := h.fitted.Load()
	if last == nil || last.of != events || last.tight != tight || last.resumed != resumed {
		last = &fitted{trimmed: trimmed{of: events, events: events}, tight: tight, resumed: resumed}
		if resumed != nil {
			last.events = h.whole(events, resumed.invocation)
		}
		if tight {
			h.fit(last, func(ev *session.Event) bool { return resumed != nil && ev.InvocationID == resumed.invocation })
		}
		h.fitted.Store(last)
	}
	if tight {
		h.State.Prompts.Show(last.shown)
	}
	return last.events
}

// fitted is what readers are shown of one snapshot, and how large that is, by branch.
type fitted struct {
	trimmed
	tight   bool // it is kept within the window
	resumed *resumption
	shown   map[string]meter.Shown
}

// resumption is a workflow that goes on: the user has answered one of its nodes, and none of them has written since. Others
// may have: a callback that changes the state, an agent or another workflow that comes first.
type resumption struct {
	invocation string
	workflow   string // the beginning of its nodes' paths, "" if that is not known
}

// noteResumption notes what an event that was added to the view means for a workflow that waits. The caller holds
// State.Append.
func (h *Handle) noteResumption(ev *session.Event) {
	path, _ := adk.NodeOf(ev)
	switch now := h.resumed.Load(); {
	case adk.AnswersInput(ev):
		h.resumed.Store(&resumption{ev.InvocationID, h.workflowOf(adk.ResponseIDs(ev))})
	case now != nil && (ev.Author == "user" && !adk.InWorkflow(ev) || strings.HasPrefix(path, now.workflow)):
		h.resumed.Store(nil)
	}
}

// workflowOf finds the workflow that made one of these calls. It returns the part of a path that all nodes of the workflow
// begin with, "" if no event has the call.
func (h *Handle) workflowOf(calls []string) string {
	for _, ev := range slices.Backward(h.View.Events().Slice()) {
		if slices.ContainsFunc(ev.LongRunningToolIDs, func(id string) bool { return slices.Contains(calls, id) }) {
			path, _ := adk.NodeOf(ev)
			return path[:strings.Index(path, "/")+1]
		}
	}
	return ""
}

// whole returns a snapshot in which the events of an invocation are as they are stored. When a workflow goes on, ADK reads
// in them what its nodes are given: the user's message, the texts of agents, the results of calls that take long. See
// ReconstructRunState in workflow/persistence.go.
func (h *Handle) whole(events *view.Snapshot, invocation string) *view.Snapshot {
	state := h.View.State()
	out := slices.Clone(events.Slice())
	for _, stored := range state.View {
		if form := state.Shown(stored); form != stored && stored.InvocationID == invocation {
			if i := slices.Index(out, form); i >= 0 {
				out[i] = stored
			}
		}
	}
	if slices.Equal(out, events.Slice()) {
		return events
	}
	return events.With(out)
}

// fit shortens a snapshot for each reader that it is too large for, except the events that stay whole.
func (h *Handle) fit(out *fitted, goesOn func(*session.Event) bool) {
	out.shown = map[string]meter.Shown{}
	branches, state := h.Meter.Branches(), h.View.State()
	waits := waiting(out.events)
	whole := func(ev *session.Event) bool { return state.Summary(ev) != nil || waits(ev) || goesOn(ev) }
	for _, reader := range branches {
		size, most, over := h.Meter.Room(reader, len(branches) == 1)
		shown := meter.Shown{View: size, Tokens: size}
		if over {
			var events []*session.Event
			events, shown.Tokens = shortened(out.events.Slice(), most, reader, whole)
			out.events = out.events.With(events)
		}
		out.shown[reader] = shown
	}
}

// waiting returns a function that reports whether an event has a call without a response.
func waiting(events *view.Snapshot) func(*session.Event) bool {
	answered := map[string]bool{}
	for ev := range events.All() {
		for _, id := range adk.ResponseIDs(ev) {
			answered[id] = true
		}
	}
	return func(ev *session.Event) bool {
		return slices.ContainsFunc(adk.FunctionCalls(ev), func(call *genai.FunctionCall) bool { return !answered[call.ID] })
	}
}

// shortened returns the events with the largest ones shortened, except those that stay whole, so that the reader sees at
// most limit tokens if that is possible. size is how many tokens the reader sees.
func shortened(events []*session.Event, limit int, reader string, whole func(*session.Event) bool) (out []*session.Event, size int) {
	newest := -1
	for i, ev := range events {
		if class := adk.Classify(ev); class.Is(adk.ByUser) && !class.Is(adk.Responds) {
			newest = i
		}
	}
	out = events
	for most := limit / 2; most >= minShown; most /= 2 {
		out, size = slices.Clone(events), 0
		for i, ev := range events {
			if !adk.Visible(reader, adk.Lane(ev)) {
				continue
			}
			if i != newest && promptsize.OfEvent(ev) > most && !whole(ev) {
				out[i] = shortenedEvent(ev, most)
			}
			size += promptsize.OfEvent(out[i])
		}
		if size <= limit {
			break
		}
	}
	return out, size
}

func shortenedEvent(ev *session.Event, most int) *session.Event {
	if ev.Content == nil {
		return ev
	}
	short := toolresult.Shorten(ev.Content, most, nil)
	if short == ev.Content {
		return ev
	}
	out := *ev
	out.Content = &genai.Content{Role: short.Role, Parts: slices.Clone(short.Parts)}
	for i, part := range ev.Content.Parts {
		if part != nil && readByADK(part) {
			out.Content.Parts[i] = part
		}
	}
	return &out
}

// readByADK reports whether ADK acts on what a part of a stored event says.
func readByADK(part *genai.Part) bool {
	switch {
	case part.FunctionCall != nil:
		return adk.IsRequest(part.FunctionCall.Name)
	case part.FunctionResponse != nil:
		return adk.IsRequest(part.FunctionResponse.Name)
	}
	return false
}
