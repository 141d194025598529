package conversation

import (
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// FromEvents makes a conversation of the events of an ADK session, in their order. Of several agents it
// makes one. Compaction records, partial events and events without content are passed over. The
// events are not changed, and nothing of them is shared with the conversation. Errors are of type *[Error]:
// a response without its call, or no message at all.
func FromEvents(id string, events []*session.Event) (*Conversation, error) {
	rec := &recording{id: id}
	for i, ev := range events {
		if ev != nil {
			rec.addEvent(adk.DeepCopy(ev), place{index: i})
		}
	}
	c, err := rec.conversation()
	if err != nil {
		return nil, inConversation(err, "", 0, id)
	}
	return c, nil
}

// addEvent takes over what an event says. It keeps parts of it.
func (rec *recording) addEvent(ev *session.Event, where place) {
	if rec.model == "" {
		rec.model = ev.ModelVersion
	}
	switch {
	case record.Is(ev):
		if m, err := record.From(ev); err == nil && m != nil { // one that cannot be read hides nothing
			rec.compacted = true
		}
		rec.notes.add("compaction records, left out", 1)
		return
	case ev.Partial:
		return
	case ev.Content == nil || len(ev.Content.Parts) == 0:
		if ev.InputTranscription != nil || ev.OutputTranscription != nil {
			rec.notes.add("events that are only a transcription of speech, left out", 1)
		}
		return
	}
	m := message{place: where, time: ev.Timestamp}
	m.take(ev.Content.Parts)
	before := len(m.parts) + len(m.results)
	m.parts = slices.DeleteFunc(m.parts, func(p *genai.Part) bool {
		return p.FunctionCall != nil && !adk.Prompted(p.FunctionCall.Name)
	})
	m.results = slices.DeleteFunc(m.results, func(r result) bool { return !adk.Prompted(r.Name) })
	left := len(m.parts) + len(m.results)
	rec.notes.add("calls and responses by which ADK itself asked the user, left out", before-left)
	if left == 0 {
		return
	}
	switch byUser := ev.Author == "user" || ev.Author == "" && ev.Content.Role != genai.RoleModel; {
	case len(m.parts) == 0:
		m.from = tool
	case byUser:
		m.from = user
	default:
		m.from = agent
		if u := ev.UsageMetadata; u != nil {
			if !rec.compacted { // else the prompt did not hold all that was said before
				m.prompt = withCached(max(0, int(u.PromptTokenCount)), int(u.CachedContentTokenCount))
			}
			m.output = max(0, int(u.CandidatesTokenCount)) + max(0, int(u.ThoughtsTokenCount))
		}
	}
	rec.messages = append(rec.messages, m)
}
