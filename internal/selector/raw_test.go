package selector_test

import (
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/selector"
	"github.com/adk-go-ext/longsession/record"
)

func says(ev *session.Event) bool {
	return ev.Content != nil && len(ev.Content.Parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil
}

// lastWords keep an event, and not what a user's own call would make its unit.
const lastWords = "the user's last words"

func identified(ev *session.Event) bool { return !record.RefTo(ev).IsZero() }

// raw returns for each event in view why it must stay raw, "" if it need not. It states the rules
// once more, each as plainly as possible.
func raw(h selector.Input, p selector.Params) []string {
	why := make([]string, len(h.Events))
	live := selector.ActiveInvocations(h, p)
	opened, words := map[string]bool{}, map[string]int{}
	newestOf := map[string]bool{}
	for i, ev := range h.Events {
		if ev != nil && ev.Author == "user" && says(ev) && live[ev.InvocationID] {
			if !opened[ev.InvocationID] {
				why[i] = "opens a live invocation"
			}
			opened[ev.InvocationID] = true
			if len(adk.FunctionResponses(ev)) == 0 {
				words[ev.InvocationID] = i
			}
		}
	}
	for _, i := range words {
		if why[i] == "" {
			why[i] = lastWords
		}
	}
	for i := len(h.Events) - 1; i >= 0; i-- {
		ev := h.Events[i]
		if ev == nil {
			continue
		}
		if ev.Author != "" && !newestOf[ev.Author] {
			newestOf[ev.Author], why[i] = true, "the newest of its author"
			if ev.Author == "user" {
				for _, j := range decidedBy(h, i) {
					why[j] = "the user has decided on it, or it was confirmed"
				}
			}
		}
		if p.Pin != nil && p.Pin(ev) {
			why[i] = "pinned by the app"
		}
	}
	index := record.NewIndex(h.Events)
	for _, m := range h.Current {
		if i, ok := index.Find(m.After); ok && m.MidTurn() && standsBehind(h, m, i) {
			why[i] = "a summary stands behind it"
		}
	}
	units := adk.GroupUnits(h.Events)
	for _, m := range units.Missing() {
		if p.Running != nil && p.Running(h.Events[m.Event].InvocationID) {
			why[m.Event] = "a tool that runs"
		}
	}
	for i := range h.Events {
		for _, j := range units.Of(i) {
			if units.Open(j) {
				why[i] = "an open call"
			}
			if why[i] == "" && why[j] != "" && why[j] != lastWords {
				why[i] = "its unit stays: " + why[j]
			}
		}
	}
	return why
}

// decidedBy returns the events that ADK looks for to see whether the tools that the user confirmed in event at have run:
// the requests, and the responses to the calls that they name.
func decidedBy(h selector.Input, at int) (out []int) {
	for _, decision := range adk.FunctionResponses(h.Events[at]) {
		for i, ev := range h.Events {
			for _, call := range adk.FunctionCalls(ev) {
				original, err := toolconfirmation.OriginalCallFrom(call)
				if call.ID != decision.ID || call.Name != toolconfirmation.FunctionCallName || err != nil || original.ID == "" {
					continue
				}
				out = append(out, i)
				for j := at + 1; j < len(h.Events); j++ {
					if slices.Contains(adk.ResponseIDs(h.Events[j]), original.ID) {
						out = append(out, j)
					}
				}
			}
		}
	}
	return out
}

// unfinished reports whether the event may be left although no pin keeps it: of an active
// invocation, only an agent's own events are summarized, and only units that are in one span. A
// unit also waits if some of its events are an agent's latest words and others are not.
func unfinished(h selector.Input, p selector.Params, units *adk.Units, i int) bool {
	live := selector.ActiveInvocations(h, p)
	unit := units.Of(i)
	if unit == nil {
		unit = []int{i}
	}
	for _, j := range unit {
		ev, owner := h.Events[j], ownerOf(h, j)
		if live[owner] && (ev.Author == "user" || ev.Author == "" || len(unit) > 1) {
			return true
		}
		if latestWords(h, unit[0]) != latestWords(h, j) {
			return true
		}
	}
	return false
}

// standsBehind reports whether event i is the latest by another author that the agent of a summary sees.
func standsBehind(h selector.Input, m *record.Metadata, i int) bool {
	ev := h.Events[i]
	return ev.Author != m.Agent && identified(ev) && adk.Visible(m.Branch, record.Normalize(adk.Lane(ev))) && nobodyElse(h, i, m.Branch, m.Agent)
}

// latestWords reports whether nobody else has spoken since an agent's event, in what the agent sees. Such events are
// summarized apart from the turns before them, so a unit that is in both waits until somebody speaks.
func latestWords(h selector.Input, i int) bool {
	ev := h.Events[i]
	return ev.Author != "user" && ev.Author != "" && nobodyElse(h, i, adk.Lane(ev), ev.Author)
}

// nobodyElse reports whether only that agent has spoken behind event i, in what an agent in the lane sees.
func nobodyElse(h selector.Input, i int, lane, agent string) bool {
	return !slices.ContainsFunc(h.Events[i+1:], func(ev *session.Event) bool {
		return ev != nil && ev.Author != agent && identified(ev) && adk.Visible(lane, adk.Lane(ev))
	})
}

// ownerOf is the invocation that an event goes with: its own if that speaks, else that of the
// nearest event before it in its branch, else after it.
func ownerOf(h selector.Input, i int) string {
	speaks := map[string]bool{}
	for _, ev := range h.Events {
		if ev != nil && says(ev) {
			speaks[ev.InvocationID] = ev.InvocationID != ""
		}
	}
	at := func(j int) bool {
		ev := h.Events[j]
		return ev != nil && adk.Lane(ev) == adk.Lane(h.Events[i]) && speaks[ev.InvocationID]
	}
	for j := i; j >= 0; j-- {
		if at(j) {
			return h.Events[j].InvocationID
		}
	}
	for j := i; j < len(h.Events); j++ {
		if at(j) {
			return h.Events[j].InvocationID
		}
	}
	return ""
}
