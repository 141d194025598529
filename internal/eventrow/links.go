package eventrow

import (
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Speaker is the kind of an event's author. The view always shows the newest event of the user and
// the newest of the agents.
type Speaker int

const (
	speakerNone Speaker = iota
	speakerUser
	speakerAgent
)

// links are the relations of an event to other events of its session. They are computed from the
// event as it is after decoding, because the view is computed from decoded events. For example, of
//
//	user   "Is it cold?"       speaker user,  conversation
//	agent  calls weather (c1)  speaker agent, conversation, call c1
//	agent  result of c1        speaker agent, answer c1
//
// the third belongs to the unit of the second, because its answer has the ID of that call.
type links struct {
	Calls, Answers []string // IDs of function calls and responses, each once, sorted
	Speaker        Speaker
	IsConversation bool // it has content, so it may begin an invocation
	Record         any  // the record's ID, "" for an unreadable record, nil for other events
	Meta           *record.Metadata
}

// linksOf returns the links of an event. r is its row so far.
func linksOf(ev *session.Event, r *Row) (links, error) {
	class := adk.Classify(ev)
	l := links{IsConversation: class.Is(adk.Speaks)}
	if _, claims := ev.CustomMetadata[record.Key]; claims {
		// Only decoded JSON shows whether the metadata is a readable record.
		back, err := Decode(r.Stored())
		if err != nil {
			return l, err
		}
		if record.Is(back) {
			l.Record, l.IsConversation = "", false
			if m, err := record.From(back); err == nil {
				l.Record, l.Meta = m.RecordID, m
			}
			return l, nil
		}
	}
	switch {
	case class.Is(adk.ByUser) && ev.Content != nil:
		l.Speaker = speakerUser
	case class.Is(adk.ByAgent):
		l.Speaker = speakerAgent
	}
	l.Calls, l.Answers = callsOf(ev)
	return l, nil
}

// callsOf returns the IDs of an event's function calls and responses, normalized as JSON normalizes
// them.
func callsOf(ev *session.Event) (calls, answers []string) {
	return distinct(adk.CallIDs(ev)), distinct(adk.ResponseIDs(ev))
}

// distinct returns normalized IDs, sorted, without duplicates.
func distinct(ids []string) []string {
	for i, id := range ids {
		ids[i] = record.Normalize(id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Stored returns the row as the database would return it.
func (r *Row) Stored() *Stored {
	bytes := func(column any) []byte {
		if text, ok := column.(string); ok {
			return []byte(text)
		}
		return nil
	}
	return &Stored{
		ID: r.ID, Time: r.Time, invocationID: r.InvocationID, author: r.Author, branch: r.Branch,
		content: bytes(r.Content), actions: bytes(r.Actions), usage: bytes(r.Usage),
		custom: bytes(r.Custom), longRunning: bytes(r.LongRunning), extra: bytes(r.Extra),
	}
}
