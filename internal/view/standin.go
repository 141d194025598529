package view

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// If a turn is cut off, by Ctrl-C or because the process ends, storage may keep a call without a
// response. Gemini, OpenAI and Anthropic refuse every prompt with such a call. So the view shows a
// response that is not stored, a stand-in, until the real one arrives. For example,
//
//	e1  call c of invocation i
//	    stand-in for c             shown from e2 on
//	e2  user, in invocation j
//	e3  response to c              from here on, the view shows e3 and not the stand-in
//
// Where ADK resumes runs, a call that may wait gets none: ADK takes every response for the answer, and would not resume.

// The responses of a stand-in.
var (
	interrupted = map[string]any{"error": "interrupted: the result is not known"}
	pending     = map[string]any{"status": "unknown: no result has arrived yet"} // of a call that may wait
)

// standInKey marks a stand-in in its CustomMetadata, and standInPrefix begins its ID.
const (
	standInKey    = "_adk_compaction_stand_in"
	standInPrefix = "interrupted-"
)

// IsStandIn reports whether an event of a view is a stand-in: an error response that the view shows
// directly behind an interrupted call. A stand-in is not stored and must not be appended to a session.
func IsStandIn(ev *session.Event) bool {
	if ev == nil {
		return false
	}
	mark, _ := ev.CustomMetadata[standInKey].(bool)
	return mark
}

// findMissing makes the stand-ins of the view and notes the calls that the next message of the user
// may leave without a response. It reuses a stand-in in made that is still right, so that readers
// that compare events by pointer see the same one.
func (l *layout) findMissing(made map[*session.Event]*session.Event) {
	p := l.projection
	p.standIns, p.open, p.reused = nil, nil, false
	missing := l.units.Missing()
	for len(missing) > 0 {
		i := missing[0].Event
		n := slices.IndexFunc(missing, func(m adk.Missing) bool { return m.Event != i })
		if n < 0 {
			n = len(missing)
		}
		of := missing[:n]
		missing = missing[n:]
		if l.hidden[i] {
			continue
		}
		if of[0].Over && adk.ResumesRuns {
			of = slices.DeleteFunc(slices.Clone(of), func(m adk.Missing) bool { return m.Waits })
		}
		if len(of) > 0 && of[0].Over {
			l.standFor(i, of, made[l.events[i]])
			continue
		}
		for _, m := range of {
			p.noteOpen(adk.Lane(l.events[i]), m.Call.ID)
		}
	}
}

// standFor adds the stand-in behind event i.
func (l *layout) standFor(i int, missing []adk.Missing, old *session.Event) {
	made := standInFor(l.events[i], missing)
	if old != nil && sameResponses(old, made) {
		made = old
	}
	put(&l.standIns, i, made)
	put(&l.projection.standIns, l.events[i], made)
}

// put sets a key of a map that may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// standInFor returns the event that answers the missing calls of one event. It depends on that event
// alone, so it is the same in every process and whenever the session is read. It has the author, branch
// and invocation of the calls, so ADK pairs the two.
func standInFor(call *session.Event, missing []adk.Missing) *session.Event {
	content := &genai.Content{Role: genai.RoleUser}
	for _, m := range missing {
		says := interrupted
		if m.Waits {
			says = pending
		}
		content.Parts = append(content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: m.Call.ID, Name: m.Call.Name, Response: maps.Clone(says),
		}})
	}
	ev := &session.Event{
		ID:           standInPrefix + call.ID,
		InvocationID: call.InvocationID,
		Timestamp:    call.Timestamp,
		Author:       call.Author,
		LLMResponse:  model.LLMResponse{Content: content},
	}
	adk.SetLane(ev, adk.Lane(call))
	ev.CustomMetadata = map[string]any{standInKey: true}
	for key, value := range call.CustomMetadata {
		if adk.IsRemoteKey(key) { // ADK looks for it in the newest event of a remote agent
			ev.CustomMetadata[key] = value
		}
	}
	return ev
}

// madeStandIns returns the stand-ins of the view as a set.
func (p *projection) madeStandIns() map[*session.Event]bool {
	made := make(map[*session.Event]bool, len(p.standIns))
	for _, standIn := range p.standIns {
		made[standIn] = true
	}
	return made
}

// sameResponses reports whether two stand-ins of one event respond alike.
func sameResponses(a, b *session.Event) bool {
	return slices.EqualFunc(a.Content.Parts, b.Content.Parts, func(a, b *genai.Part) bool {
		return a.FunctionResponse.ID == b.FunctionResponse.ID && maps.Equal(a.FunctionResponse.Response, b.FunctionResponse.Response)
	})
}
