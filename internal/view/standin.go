package view

import (
	"maps"
	"slices"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// A turn that is cut off, by Ctrl-C or the end of the process, may leave a call without a response in
// storage. Gemini, OpenAI and Anthropic refuse every prompt that holds such a call, so the view shows
// a response that was never stored, a stand-in, until the real one comes.

// What a stand-in says, by the kind of call.
var (
	interrupted = map[string]any{"error": "interrupted: the result is not known"}
	pending     = map[string]any{"status": "unknown: no result has arrived yet"}
)

// standInKey marks a stand-in in its CustomMetadata, and standInPrefix begins its ID.
const (
	standInKey    = "_adk_compaction_stand_in"
	standInPrefix = "interrupted-"
)

// IsStandIn reports whether an event of a view is a stand-in: the response that a view shows directly
// behind a call that was interrupted. It is not in storage and must not be appended to a session.
func IsStandIn(ev *session.Event) bool {
	if ev == nil {
		return false
	}
	mark, _ := ev.CustomMetadata[standInKey].(bool)
	return mark
}

// standIn is the stand-in for the responses to one event with calls.
type standIn struct {
	source *session.Event
	shown  *session.Event
}

// findMissing makes the stand-ins for the calls that are visible, unanswered and of invocations that
// are over, and notes the calls that the next message of the user may leave behind. A stand-in that
// made holds is shown again, so that those who compare events by pointer see the same one.
func (p *projection) findMissing(units *adk.Units, made map[int]standIn) {
	p.standIns, p.unanswered, p.unanswerable = nil, nil, nil
	missing := units.Missing()
	for len(missing) > 0 {
		i := missing[0].Event
		n := slices.IndexFunc(missing, func(m adk.Missing) bool { return m.Event != i })
		if n < 0 {
			n = len(missing)
		}
		of := missing[:n]
		missing = missing[n:]
		switch {
		case p.hidden.has(i):
		case of[0].Over:
			p.standFor(i, of, made)
		default:
			p.await(i, of)
		}
	}
}

// await notes the calls of the event at position i that nothing answers yet.
func (p *projection) await(i int, missing []adk.Missing) {
	if p.isPending(i) {
		p.unanswered = append(p.unanswered, i)
	}
	for _, m := range missing {
		if at, ok := p.pending[adk.CallKey{Branch: p.raw[i].Branch, ID: m.Call.ID}]; !ok || int(at) != i {
			p.unanswerable = append(p.unanswerable, i)
			break
		}
	}
}

// standFor adds the stand-in behind the event at position i.
func (p *projection) standFor(i int, missing []adk.Missing, made map[int]standIn) {
	shown := standInFor(p.raw[i], missing)
	if p.standIns == nil {
		p.standIns = map[int]standIn{}
	}
	s := standIn{p.raw[i], shown}
	if old, ok := made[i]; ok && old.source == s.source && saysTheSame(old.shown, shown) {
		s = old
	}
	p.standIns[i] = s
}

// standInFor returns the event that answers the missing calls of one event. It is derived from that
// event alone, so it is the same in every process and at every reading, and ADK pairs it with the
// call: same author, branch and invocation.
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
		Branch:       call.Branch,
		Author:       call.Author,
		LLMResponse:  model.LLMResponse{Content: content},
	}
	ev.CustomMetadata = map[string]any{standInKey: true}
	for key, value := range call.CustomMetadata {
		if adk.IsRemoteKey(key) { // ADK looks for it in the newest event of a remote agent
			ev.CustomMetadata[key] = value
		}
	}
	return ev
}

// saysTheSame compares two stand-ins of one event.
func saysTheSame(a, b *session.Event) bool {
	return slices.EqualFunc(a.Content.Parts, b.Content.Parts, func(a, b *genai.Part) bool {
		return a.FunctionResponse.ID == b.FunctionResponse.ID && maps.Equal(a.FunctionResponse.Response, b.FunctionResponse.Response)
	})
}

// overtakes reports whether a new event is a message of the user that leaves calls behind whose
// invocation is over with it.
func (p *projection) overtakes(ev *session.Event) bool {
	if len(p.unanswered) == 0 && len(p.unanswerable) == 0 || !adk.Classify(ev).Is(adk.Message) {
		return false
	}
	waiting := p.unanswered[:0]
	for _, i := range p.unanswered {
		if p.isPending(i) {
			waiting = append(waiting, i)
		}
	}
	p.unanswered = waiting
	over := func(i int) bool { return adk.Overtakes(ev, p.raw[i]) }
	return slices.ContainsFunc(p.unanswered, over) || slices.ContainsFunc(p.unanswerable, over)
}

// isPending reports whether some call of the event at position i has no response yet.
func (p *projection) isPending(i int) bool {
	return slices.ContainsFunc(adk.FunctionCalls(p.raw[i]), func(call *genai.FunctionCall) bool {
		at, ok := p.pending[adk.CallKey{Branch: p.raw[i].Branch, ID: call.ID}]
		return ok && int(at) == i && call.ID != "" && adk.Prompted(call.Name)
	})
}

// noteUnanswered takes in the calls of the event at position i.
func (p *projection) noteUnanswered(i int, made []*genai.FunctionCall) {
	if len(made) > 0 {
		p.unanswered = append(p.unanswered, i)
	}
}
