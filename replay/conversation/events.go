package conversation

import (
	"slices"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// FromEvents converts the events of an ADK session, in their order. Several agents become one. It
// skips compaction records, partial events and events without content. It copies the events and
// does not change them. Errors are of type *[Error]: a response without its call, or no message at
// all.
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

// addEvent adds the message of an event. It keeps parts of the event.
func (rec *recording) addEvent(ev *session.Event, where place) {
	if rec.model == "" {
		rec.model = ev.ModelVersion
	}
	switch {
	case record.Is(ev):
		if m, err := record.From(ev); err == nil && m != nil { // an unreadable record hides no event
			rec.compacted = true
		}
		rec.notes.add("compaction records, left out", 1)
		return
	case adk.IsCompaction(ev):
		rec.compacted = true
		rec.notes.add("records of ADK's own compaction, left out", 1)
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
	switch byUser := adk.Classify(ev).Is(adk.ByUser) || ev.Author == "" && ev.Content.Role != genai.RoleModel; {
	case len(m.parts) == 0:
		m.from = tool
	case byUser:
		m.from = user
	default:
		m.from = agent
		if u := ev.UsageMetadata; u != nil {
			if !rec.compacted { // otherwise the prompt did not have the whole history
				m.prompt = withCached(max(0, int(u.PromptTokenCount)), int(u.CachedContentTokenCount))
			}
			m.output = max(0, int(u.CandidatesTokenCount)) + max(0, int(u.ThoughtsTokenCount))
		}
	}
	rec.messages = append(rec.messages, m)
}
