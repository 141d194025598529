package view_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// turns is a history of n turns: e1 is the first question, e2 its answer.
func turns(n int) *ct.History { return h().Turns(n, "bot") }

func TestOnlyCoveredEventsAreHidden(t *testing.T) {
	t.Parallel()
	run(t, []row{
		{"nothing covered", turns(2), "e1 e2 e3 e4"},
		{"one turn", turns(2).Compact("s", "e1", "e2"), "s e3 e4"},
		{"a hole stays", turns(3).Compact("s", "e1", "e3"), "s e2 e4 e5 e6"},
		{"an event beside a covered one, at the same time", tied(turns(2), 0, 1).Compact("s", "e1"), "s e2 e3 e4"},
		{"a straggler within the span stays", turns(2).Compact("s", "e1", "e2").AddEvent(&session.Event{ID: "x", Author: "bot", Timestamp: at(1)}), "s e3 e4 x"},
		{"two windows", turns(3).Compact("s1", "e1", "e2").Compact("s2", "e3", "e4"), "s1 s2 e5 e6"},
		{"overlapping windows both count", turns(3).Compact("s1", "e1", "e2").Compact("s2", "e2", "e3"), "s1 s2 e4 e5 e6"},
		{"a record in the middle", turns(1).Compact("s", "e1").Turn("i2", "bot", "q", "a"), "s e2 e4 e5"},
		{"the same record stored twice", turns(2).Compact("s", "e1", "e2").Compact("s", "e1", "e2"), "s e3 e4"},
	})
}

// tied gives two events one timestamp.
func tied(h *ct.History, i, j int) *ct.History {
	h.Events[j].Timestamp = h.Events[i].Timestamp
	return h
}

func TestUnresolvedReferenceLeavesItsEventVisible(t *testing.T) {
	t.Parallel()
	twin := func(id string) *session.Event {
		return &session.Event{ID: id, InvocationID: "inv1", Author: "user", Timestamp: at(1)}
	}
	rename := func(m *record.Metadata) { m.Covered[0].ID = "renamed" }
	run(t, []row{
		{"unknown event", turns(1).Compact("s", "e2").Amend(func(m *record.Metadata) {
			m.Covered = []record.Ref{{ID: "x", InvocationID: "x"}}
		}), "s e1 e2"},
		{"nothing named", turns(1).Compact("s", "e2").Amend(func(m *record.Metadata) { m.Covered = []record.Ref{{}} }), "s e1 e2"},
		{"renamed, found by place", turns(2).Compact("s", "e1").Amend(rename), "s e2 e3 e4"},
		{"renamed, two events in that place", turns(2).AddEvent(twin("x")).Compact("s", "e1").Amend(rename), "s e1 e2 e3 e4 x"},
		{"an ID that two events have", turns(2).AddEvent(twin("e1")).Compact("s", "e1", "e2"), "s e1 e3 e4 e1"},
		{"the twin comes after the record", turns(2).Compact("s", "e1", "e2").AddEvent(twin("e1")), "s e1 e3 e4 e1"},
		{"the twin of a renamed event comes after", turns(2).Compact("s", "e1").Amend(rename).AddEvent(twin("y")), "s e1 e2 e3 e4 y"},
		{"the event comes after the record", turns(1).Compact("s", "e1").Amend(func(m *record.Metadata) {
			m.Covered[0] = record.Ref{ID: "e4"}
		}).Turn("i2", "bot", "q", "a").Turn("i3", "bot", "q", "a"), "s e1 e2 e5 e6 e7"},
	})
}

// Events from REST servers and struct literals may have no ID at all.
func TestEventsWithoutIDAreFoundByPlaceOnly(t *testing.T) {
	t.Parallel()
	anonymous := func(n int) *session.Event {
		return &session.Event{InvocationID: "inv1", Author: "bot", Timestamp: at(n)}
	}
	over := func(m *record.Metadata) { m.Covered = []record.Ref{record.RefTo(anonymous(9))} }
	run(t, []row{
		{"one in its place", turns(1).AddEvent(anonymous(9)).Compact("s", "e1").Amend(over).Turn("i2", "bot", "q", "a"), "s e1 e2 e5 e6"},
		{"two in one place", turns(1).AddEvent(anonymous(9)).AddEvent(anonymous(9)).Compact("s", "e1").Amend(over), "s e1 e2  "},
		{"the second comes after the record", turns(1).AddEvent(anonymous(9)).Compact("s", "e1").Amend(over).AddEvent(anonymous(9)), "s e1 e2  "},
	})
}

func TestTimestampsAreComparedAtMicroseconds(t *testing.T) {
	t.Parallel()
	shifted := func(by time.Duration) *ct.History {
		return turns(2).Compact("s", "e1").Amend(func(m *record.Metadata) {
			m.Covered[0].ID, m.Covered[0].Timestamp = "renamed", m.Covered[0].Timestamp.Add(by)
		})
	}
	run(t, []row{
		{"nanoseconds cut by the backend", shifted(999 * time.Nanosecond), "s e2 e3 e4"},
		{"a microsecond apart", shifted(time.Microsecond), "s e1 e2 e3 e4"},
	})
}

func TestRecordCoversItsOwnBranchOnly(t *testing.T) {
	t.Parallel()
	two := func() *ct.History {
		return h().User("i", "q").Branch("p.a").Agent("i", "a", "A").Branch("p.b").Agent("i", "b", "B").Branch("").Turn("i2", "bot", "q", "a")
	}
	run(t, []row{
		{"its own", two().Compact("s", "e2"), "s e1 e3 e4 e5"},
		{"another's", two().Compact("s", "e2").Amend(func(m *record.Metadata) { m.Branch = "p.b" }), "s e1 e2 e3 e4 e5"},
		{"a parent's", two().Compact("s", "e2").Amend(func(m *record.Metadata) { m.Branch = "p" }), "s e1 e2 e3 e4 e5"},
		{"one of two", two().Compact("s", "e2", "e3"), "s e1 e3 e4 e5"},
	})
}

func TestUnreadableRecordHidesAndShowsNothing(t *testing.T) {
	t.Parallel()
	good := turns(2).Compact("s", "e1", "e2").Last().CustomMetadata[record.Key].(map[string]any)
	spoil := func(field string, value any) *session.Event {
		object := map[string]any{}
		for k, v := range good {
			object[k] = v
		}
		object[field] = value
		return &session.Event{ID: "r", Author: "user", LLMResponse: metadata(object)}
	}
	for name, ev := range map[string]*session.Event{
		"future version": spoil("version", 2.0),
		"no version":     spoil("version", nil),
		"unknown kind":   spoil("kind", "note"),
		"no text":        spoil("compacted_content_json", `{"parts":[]}`),
		"bad reference":  spoil("covered", []any{1.0}),
		"not an object":  {ID: "r", LLMResponse: metadata("{")},
		"nil":            {ID: "r", LLMResponse: metadata(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, []row{{"alone", turns(2).AddEvent(ev), "e1 e2 e3 e4"}, {"beside a good one", turns(2).AddEvent(ev).Compact("s", "e1"), "s e2 e3 e4"}})
		})
	}
}

// A claim to be a record does not make a message disappear.
func TestEventThatTalksIsConversationWhateverItClaims(t *testing.T) {
	t.Parallel()
	liar := turns(1).Compact("s", "e1").Last()
	liar.Content = turns(1).Events[0].Content
	run(t, []row{{"content beside a record", turns(2).AddEvent(liar), "e1 e2 e3 e4 event-of-s"}})
}

// badRecord is bookkeeping as a backend may return it that makes empty content of none.
func badRecord(author string) *session.Event {
	ev := &session.Event{ID: "bad", Author: author, LLMResponse: metadata("{")}
	ev.Content = &genai.Content{}
	return ev
}

// ADK takes the newest user event for the user's message and routes by the newest agent event. No
// record, however it came about, may take them away.
func TestNewestUserAndAgentEventsStayVisible(t *testing.T) {
	t.Parallel()
	all := func(n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprintf("e%d", i+1))
		}
		return out
	}
	run(t, []row{
		{"everything covered", turns(3).Compact("s", all(6)...), "s e5 e6"},
		{"until there is a newer one", turns(2).Compact("s", all(4)...).User("i3", "q"), "s e4 e6"},
		{"and a newer answer", turns(2).Compact("s", all(4)...).Turn("i3", "bot", "q", "a"), "s e6 e7"},
		{"with its unit", h().User("i", "q").Call("i", "bot", "t", "c").Response("i", "bot", "t", "r", "c").Compact("s", "e1", "e2", "e3"), "s e1 e2 e3"},
		{"a record is neither", turns(1).Compact("s", all(2)...).AddEvent(badRecord("user")).AddEvent(badRecord("bot")), "s e1 e2"},
		{"a nil event is neither", turns(1).Compact("s", all(2)...).AddEvent(&session.Event{Author: "user", Timestamp: at(9)}), "s e1 e2 "},
	})
}
