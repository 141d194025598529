package persistence

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// voice says of whom an event may be the newest that the view always shows.
type voice int

const (
	voiceNone voice = iota
	voiceUser
	voiceAgent
)

// ties are what an event has to do with others, as one finds it after a reading: what the view shows is
// computed from that.
type ties struct {
	calls, answers []string // IDs of function calls and responses, each once, sorted
	voice          voice
	talks          bool // conversation: it may begin an invocation
	record         any  // the record's ID, "" if it cannot be read, nil for an event that is no record
	meta           *record.Metadata
}

func tiesOf(ev *session.Event, r *row) (ties, error) {
	t := ties{talks: conversational(ev)}
	if _, claims := ev.CustomMetadata[record.Key]; claims {
		// JSON may make a readable record of values that are none yet.
		back, err := decode(r.stored())
		if err != nil {
			return t, err
		}
		if record.Is(back) {
			t.record, t.talks = "", false
			if m, err := record.From(back); err == nil {
				t.record, t.meta = m.RecordID, m
			}
			return t, nil
		}
	}
	switch {
	case ev.Author == "user" && ev.Content != nil:
		t.voice = voiceUser
	case ev.Author != "user" && ev.Author != "":
		t.voice = voiceAgent
	}
	t.calls, t.answers = callsOf(ev)
	return t, nil
}

// callsOf returns the IDs of an event's function calls and responses as JSON keeps them.
func callsOf(ev *session.Event) (calls, answers []string) {
	if ev.Content == nil {
		return nil, nil
	}
	for _, part := range ev.Content.Parts {
		if part == nil {
			continue
		}
		if part.FunctionCall != nil {
			calls = append(calls, record.Normalize(part.FunctionCall.ID))
		}
		if part.FunctionResponse != nil {
			answers = append(answers, record.Normalize(part.FunctionResponse.ID))
		}
	}
	return distinct(calls), distinct(answers)
}

func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// conversational reports whether an event says anything, as opposed to changing state. It may still
// be a record.
func conversational(ev *session.Event) bool {
	return ev.Content != nil && len(ev.Content.Parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil
}

// stored returns the row as a reading gives it.
func (r *row) stored() *stored {
	bytes := func(column any) []byte {
		if text, ok := column.(string); ok {
			return []byte(text)
		}
		return nil
	}
	return &stored{
		id: r.id, time: r.time, invocationID: r.invocationID, author: r.author, branch: r.branch,
		content: bytes(r.content), actions: bytes(r.actions), usage: bytes(r.usage),
		custom: bytes(r.custom), longRunning: bytes(r.longRunning), extra: bytes(r.extra),
	}
}
