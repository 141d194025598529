package persistence

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// voice says of whom an event may be the newest that the view always shows.
type speaker int

const (
	speakerNone speaker = iota
	speakerUser
	speakerAgent
)

// ties are what an event has to do with others, as one finds it after a reading: what the view shows is
// computed from that.
type links struct {
	calls, answers []string // IDs of function calls and responses, each once, sorted
	speaker        speaker
	isConversation bool // conversation: it may begin an invocation
	record         any  // the record's ID, "" if it cannot be read, nil for an event that is no record
	meta           *record.Metadata
}

func linksOf(ev *session.Event, r *row) (links, error) {
	class := adk.Classify(ev)
	l := links{isConversation: class.Is(adk.Speaks)}
	if _, claims := ev.CustomMetadata[record.Key]; claims {
		// JSON may make a readable record of values that are none yet.
		back, err := decode(r.stored())
		if err != nil {
			return l, err
		}
		if record.Is(back) {
			l.record, l.isConversation = "", false
			if m, err := record.From(back); err == nil {
				l.record, l.meta = m.RecordID, m
			}
			return l, nil
		}
	}
	switch {
	case class.Is(adk.ByUser) && ev.Content != nil:
		l.speaker = speakerUser
	case class.Is(adk.ByAgent):
		l.speaker = speakerAgent
	}
	l.calls, l.answers = callsOf(ev)
	return l, nil
}

// callsOf returns the IDs of an event's function calls and responses as JSON keeps them.
func callsOf(ev *session.Event) (calls, answers []string) {
	return distinct(adk.CallIDs(ev)), distinct(adk.ResponseIDs(ev))
}

// distinct returns IDs as JSON keeps them, sorted, each once.
func distinct(ids []string) []string {
	for i, id := range ids {
		ids[i] = record.Normalize(id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
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
