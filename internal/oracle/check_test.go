package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/record"
)

// summary is what a view shows for the record of an ID among events.
func summary(events []*session.Event, id string) *session.Event {
	said := "summary"
	for _, ev := range events {
		if m, err := record.From(ev); err == nil && m != nil && m.RecordID == id {
			said, _ = m.Text()
		}
	}
	return &session.Event{ID: id, Author: "user", LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("[A summary:] "+said, genai.RoleUser)}}
}

// pick returns the events with the given IDs in that order, and front summaries for all other IDs.
func pick(events []*session.Event, ids ...string) []*session.Event {
	out := []*session.Event{}
	for _, id := range ids {
		i := slices.IndexFunc(events, func(ev *session.Event) bool { return ev != nil && ev.ID == id })
		switch {
		case id == "<nil>":
			out = append(out, nil)
		case i >= 0:
			out = append(out, events[i])
		default:
			out = append(out, summary(events, id))
		}
	}
	return out
}

func history() *ct.History {
	return (&ct.History{}).Turns(2, "bot").Compact("s", "e1", "e2")
}

func tools() *ct.History {
	h := (&ct.History{}).User("i", "q").Call("i", "bot", "t", "a", "b").Response("i", "bot", "t", "r", "a").Response("i", "bot", "t", "r", "b")
	return h.Turn("j", "bot", "q", "a").Compact("s", "e1", "e2").Compact("s2", "e3", "e4")
}

// remote is a history in which a remote agent says one event, and a later turn is summarized.
func remote(said int) *ct.History {
	h := (&ct.History{}).Turns(3, "bot").Compact("s", "e3", "e4")
	h.Events[said-1].CustomMetadata = map[string]any{"a2a:context_id": "far"}
	return h
}

func TestCheckAcceptsGoodViews(t *testing.T) {
	t.Parallel()
	late := (&ct.History{}).User("i", "q").LongCall("i", "bot", "t", "c").Turn("j", "bot", "q", "a").Response("k", "user", "t", "r", "c")
	itself := (&ct.History{}).User("i", "q").Call("i", "bot", "t", "c")
	itself.Events[1].Content.Parts = append([]*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: "t"}}}, itself.Events[1].Content.Parts...)
	for _, r := range []struct {
		name string
		h    *ct.History
		view []string
	}{
		{"empty", &ct.History{}, nil},
		{"all of it", history(), []string{"e1", "e2", "e3", "e4"}},
		{"compacted", history(), []string{"s", "e3", "e4"}},
		{"a whole unit hidden", tools(), []string{"s", "s2", "e5", "e6"}},
		{"a whole unit shown", tools(), []string{"s", "s2", "e2", "e3", "e4", "e5", "e6"}},
		{"absorbed", history().Merge("m", "s"), []string{"m", "e3", "e4"}},
		{"late answer", late, []string{"e1", "e2", "e3", "e4", "e5"}},
		{"a call that its own event answers, as only a broken app stores it", itself, []string{"e1", "e2"}},
		{"a remote agent is told what came later", remote(2), []string{"e2", "s", "e1", "e5", "e6"}},
		{"a remote agent knows what came earlier", remote(6), []string{"s", "e1", "e2", "e5", "e6"}},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if err := oracle.Check(r.h.Events, pick(r.h.Events, r.view...)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckCatchesEachViolation(t *testing.T) {
	t.Parallel()
	elsewhere := func(view []*session.Event, change func(*session.Event)) []*session.Event {
		change(view[0])
		return view
	}
	h, tool := history(), tools()
	branches := (&ct.History{}).User("i", "q").Branch("p.a").Agent("i", "a", "A").Branch("p.b").Agent("i", "b", "B").Compact("s", "e2")
	forged := (&ct.History{}).User("i", "q").Branch("p.a").Agent("i", "a", "A").Branch("p.b").Agent("i", "b", "B").Agent("i", "b", "B").Compact("s", "e2", "e3")
	late := (&ct.History{}).User("i", "q").LongCall("i", "bot", "t", "c").Turn("j", "bot", "q", "a").Response("k", "user", "t", "r", "c")
	spanned := (&ct.History{}).User("i", "q").LongCall("i", "bot", "t", "c").User("j", "q").Call("j", "bot", "t", "d").Response("j", "bot", "t", "r", "d").Agent("j", "bot", "a").
		Response("k", "user", "t", "r", "c").Compact("s", "e4", "e5").Amend(func(m *record.Metadata) { m.Agent, m.After = "bot", record.Ref{ID: "e3"} })
	rounds := (&ct.History{}).User("i", "q").Agent("i", "a", "A").Agent("i", "b", "B").Agent("i", "b", "B").Compact("s", "e2", "e3").
		Amend(func(m *record.Metadata) { m.Agent, m.After = "a", record.Ref{ID: "e1"} })
	same := (&ct.History{}).Turns(3, "bot").Compact("s", "e1")
	same.Events[1].ID = "e1"
	early, recent := remote(2), remote(6)
	opened := (&ct.History{}).Turns(2, "bot").Compact("s", "e1")
	twice := history().Compact("s2", "e1", "e2")
	for _, r := range []struct {
		name         string
		events, view []*session.Event
		want         string
	}{
		{"an event hidden and not summarized", h.Events, pick(h.Events, "s", "e4"), "event e3 is hidden"},
		{"hidden behind a summary not shown", h.Events, pick(h.Events, "e3", "e4"), "event e1 is hidden"},
		{"hidden by a record of another branch", forged.Events, pick(forged.Events, "e1", "s", "e4"), "event e3 is hidden"},
		{"hidden by tool rounds of another agent", rounds.Events, pick(rounds.Events, "e1", "s", "e4"), "event e3 is hidden"},
		{"hidden by a reference that names two events", same.Events, append(pick(same.Events, "s"), same.Events[1:6]...), "event e1 is hidden"},
		{"a call hidden", tool.Events, pick(tool.Events, "s", "e3", "e4", "e5", "e6"), "response e3 is shown without its call e2"},
		{"a response hidden", tool.Events, pick(tool.Events, "s2", "e1", "e2", "e4", "e5", "e6"), "call e2 is shown without its stored response e3"},
		{"a response before its call", tool.Events, pick(tool.Events, "e1", "e3", "e2", "e4", "e5", "e6"), "response e3 is shown before its call e2"},
		{"a summary between a call and its late answer", spanned.Events, pick(spanned.Events, "e1", "e2", "e3", "s", "e6", "e7"), "summary s stands between call e2 and its late response e7"},
		{"a call moved to its late answer", late.Events, pick(late.Events, "e1", "e3", "e4", "e2", "e5"), "event e2 is shown out of order"},
		{"a summary in another branch", branches.Events, elsewhere(pick(branches.Events, "s", "e1", "e3"), func(ev *session.Event) { ev.Branch = "" }), "it leaks"},
		{"a summary is the newest user event", h.Events, pick(h.Events, "e3", "e4", "s"), "the newest user event of the view is summary s"},
		{"a record is shown", h.Events, pick(h.Events, "s", "e3", "e4", "event-of-s"), "bookkeeping is not conversation"},
		{"an event is shown twice", h.Events, pick(h.Events, "s", "e3", "e3", "e4"), "is shown twice"},
		{"a stranger", h.Events, pick(h.Events, "s", "x", "e3", "e4"), "neither a stored event nor the summary"},
		{"the summary of an unreadable record", append(history().Events, &session.Event{ID: "y", LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{record.Key: 1}}}), pick(h.Events, "y"), "neither a stored event nor the summary"},
		{"a nil event", h.Events, pick(h.Events, "s", "<nil>", "e3", "e4"), "view[1] is nil"},
		{"out of order", h.Events, pick(h.Events, "s", "e4", "e3"), "event e3 is shown out of order"},
		{"a remote agent is not told of a summary", early.Events, pick(early.Events, "s", "e1", "e2", "e5", "e6"), "summary s stands in front of e2"},
		{"a remote agent's words in front of what it knows", recent.Events, pick(recent.Events, "e6", "s", "e1", "e2", "e5"), "event e1 is shown out of order"},
		{"words of no remote agent in front", recent.Events, pick(recent.Events, "e2", "s", "e1", "e5", "e6"), "event e1 is shown out of order"},
		{"the newest agent event hidden", twice.Events, pick(twice.Events, "s", "e3"), "the newest agent event e4 is hidden"},
		{"a summary without a role", h.Events, elsewhere(pick(h.Events, "s", "e3", "e4"), func(ev *session.Event) { ev.Content.Role = "" }), "ADK drops it"},
		{"a summary without content", h.Events, elsewhere(pick(h.Events, "s", "e3", "e4"), func(ev *session.Event) { ev.Content = nil }), "ADK drops it"},
		{"begins with a model turn", h.Events, elsewhere(pick(h.Events, "s", "e3", "e4"), func(ev *session.Event) { ev.Content.Role = genai.RoleModel }), "starts with summary s of role model"},
		{"begins with a model turn that was said later", opened.Events, pick(opened.Events, "e2", "s", "e3", "e4"), "starts with event e2 of role model"},
		{"a summary that says something else", h.Events, elsewhere(pick(h.Events, "s", "e3", "e4"), func(ev *session.Event) { ev.Content.Parts[0].Text = "other" }), "does not say what its record says"},
		{"a nil event between a call and its late answer", late.Events, pick(late.Events, "e1", "e2", "e3", "e4", "<nil>", "e5"), "view[4] is nil"},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := oracle.Check(r.events, r.view)
			if err == nil || !strings.Contains(err.Error(), r.want) {
				t.Errorf("Check says %v, want %q", err, r.want)
			}
			// What is lost, ill-formed or not raw is told apart, and the event named.
			for _, p := range oracle.Problems(r.events, r.view) {
				rule := oracle.Formed
				switch {
				case strings.Contains(p.Error(), "is hidden, but"):
					rule = oracle.Hidden
				case strings.Contains(p.Error(), "the newest agent event"):
					rule = oracle.Raw
				}
				if p.Rule != rule || p.Event != "" && !strings.Contains(p.Error(), p.Event) && !strings.Contains(p.Error(), "role model") || p.Event == "" && !strings.Contains(p.Error(), "nil") {
					t.Errorf("rule %s, event %q of %q", p.Rule, p.Event, p)
				}
			}
		})
	}
}
