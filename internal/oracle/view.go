package oracle

import (
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Shown is one entry of a view: a stored event or the summary of a record.
type Shown struct {
	Event  *session.Event
	Record *record.Metadata
	// Standing means that the summary is shown behind an event, in the agent's name, and not in
	// front.
	Standing bool
	// By is the author of a summary in front.
	By string
	// StandIns is set for an entry that is a stand-in; Event is then the event with the calls.
	StandIns []StandIn
}

// history is a session and what its view is made of. Events are identified by position.
type history struct {
	events  []*session.Event
	records []*stored
	hidden  map[int]bool
	tasks   tasks
	unit    []int // events of one number belong together; each has its own unless it calls or responds
}

// View returns the view of a history given in the order of the backend.
func View(events []*session.Event) []Shown {
	h := &history{events: events, records: readable(events), hidden: map[int]bool{}, tasks: tasksIn(events)}
	h.resolve()
	h.settle()
	h.pairUp()
	h.hide()
	h.free()
	return signed(h.putAhead(h.placeRounds(h.inOrder())))
}

// signed sets the authors of the summaries in front: the user, and in an isolation scope in which only one agent is
// shown, that agent.
func signed(shown []Shown) []Shown {
	authors := map[string]map[string]bool{}
	for _, s := range shown {
		if s.Event != nil && s.StandIns == nil {
			scope := record.Normalize(scopeOf(s.Event))
			if authors[scope] == nil {
				authors[scope] = map[string]bool{}
			}
			authors[scope][s.Event.Author] = true
		}
	}
	for i, s := range shown {
		if s.Record == nil || s.Standing {
			continue
		}
		shown[i].By = "user"
		_, scope, scoped := strings.Cut(s.Record.Branch, scopeMark)
		for author := range authors[scope] {
			if scoped && author != "" && len(authors[scope]) == 1 {
				shown[i].By = author
			}
		}
	}
	return shown
}

// hide applies the rules in turn. It hides the events that live records stand for, except anchors
// of summaries, the newest event of the user and of an agent, what ADK reads to go on with a workflow
// that the user answers, and every part of a unit that is shown.
func (h *history) hide() {
	for _, r := range h.records {
		if r.live {
			for id := range r.family {
				for _, i := range h.record(id).covers {
					h.hidden[i] = true
				}
			}
		}
	}
	for _, r := range h.records {
		if r.anchor = -1; r.live && !r.After.IsZero() {
			if r.anchor = h.find(r.After); r.anchor < 0 {
				r.anchor = h.first(func(ev *session.Event) bool { return fromUser(ev) && ev.InvocationID == r.StartInvocationID })
			}
			delete(h.hidden, r.anchor)
		}
	}
	delete(h.hidden, h.last(fromUser))
	delete(h.hidden, h.last(func(ev *session.Event) bool { return ev.Author != "" && ev.Author != "user" }))
	for _, i := range h.goesOn() {
		delete(h.hidden, i)
	}
	for i := range h.events {
		if !h.hidden[i] {
			for j := range h.events {
				if h.unit[i] == h.unit[j] {
					delete(h.hidden, j)
				}
			}
		}
	}
}

func fromUser(ev *session.Event) bool { return ev.Author == "user" && ev.Content != nil }

// first returns the first position of conversation for which is holds, -1 if there is none.
func (h *history) first(is func(*session.Event) bool) int {
	return slices.IndexFunc(h.events, func(ev *session.Event) bool { return conversation(ev) && is(ev) })
}

// last is first from the other end.
func (h *history) last(is func(*session.Event) bool) int {
	for i := len(h.events) - 1; i >= 0; i-- {
		if conversation(h.events[i]) && is(h.events[i]) {
			return i
		}
	}
	return -1
}

// conversation reports whether an event is neither nil nor a record, of ours or of ADK's own compaction.
func conversation(ev *session.Event) bool { return ev != nil && !record.Is(ev) && !compactedByADK(ev) }

// compactedByADK reports whether an event without content has a record of ADK's own compaction: in its JSON, because the
// types of most versions of ADK do not know it, or in its metadata.
func compactedByADK(ev *session.Event) bool {
	if ev == nil || ev.Content != nil && len(ev.Content.Parts) > 0 || ev.InputTranscription != nil || ev.OutputTranscription != nil {
		return false
	}
	var has struct {
		Actions struct{ Compaction json.RawMessage }
		Custom  struct {
			Compaction struct {
				Python json.RawMessage `json:"compacted_content"`
				Go     json.RawMessage `json:"compactedContent"`
			} `json:"_compaction"`
		}
	}
	text, err := json.Marshal(map[string]any{"actions": ev.Actions, "custom": ev.CustomMetadata})
	if err != nil {
		return false
	}
	_ = json.Unmarshal(text, &has) // what an app keeps under the name may have another form
	return has.Actions.Compaction != nil || has.Custom.Compaction.Python != nil || has.Custom.Compaction.Go != nil
}
