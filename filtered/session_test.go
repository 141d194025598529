package filtered_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
	"github.com/adk-go-ext/longsession/internal/view"
)

// stored returns a new session of ADK's in-memory service, and a function that appends to it.
func stored(t testing.TB) (session.Session, func(...*session.Event)) {
	t.Helper()
	service := session.InMemoryService()
	created, err := service.Create(context.Background(), &session.CreateRequest{AppName: "app", UserID: "user", SessionID: "s", State: map[string]any{"k": "v"}})
	if err != nil {
		t.Fatal(err)
	}
	return created.Session, func(events ...*session.Event) {
		t.Helper()
		for _, ev := range events {
			if err := service.AppendEvent(context.Background(), created.Session, ev); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSessionShowsTheViewAndPassesTheRestThrough(t *testing.T) {
	t.Parallel()
	inner, add := stored(t)
	add(turns(3).Compact("s", "e1", "e2").Events...)
	s := filtered.NewFilteredSession(inner)
	if s.Unwrap() != inner {
		t.Error("Unwrap returns another session")
	}
	if s.ID() != "s" || s.AppName() != "app" || s.UserID() != "user" || !s.LastUpdateTime().Equal(inner.LastUpdateTime()) {
		t.Errorf("session is %s/%s/%s of %v", s.AppName(), s.UserID(), s.ID(), s.LastUpdateTime())
	}
	if err := s.State().Set("k", "w"); err != nil {
		t.Fatal(err)
	}
	if v, err := inner.State().Get("k"); err != nil || v != "w" {
		t.Errorf("the inner session's state is %v (%v): a write was lost", v, err)
	}
	if got, want := ids(view.Collect(s.Events())), "s e3 e4 e5 e6"; got != want {
		t.Errorf("view is %q, want %q", got, want)
	}
	if _, ok := s.Events().(*filtered.FilteredEvents); !ok {
		t.Errorf("the view is a %T", s.Events())
	}
	if n := inner.Events().Len(); n != 7 {
		t.Errorf("the inner session has %d events, want 7", n)
	}
}

// The runner keeps one session for a whole turn and appends to it through the inner service.
func TestSessionSeesWhatIsAppendedToTheInnerOne(t *testing.T) {
	t.Parallel()
	inner, add := stored(t)
	s := filtered.NewFilteredSession(inner)
	var before []session.Events
	h := rich()
	for i, ev := range h.Events {
		add(ev)
		events := s.Events()
		if got, want := ids(view.Collect(events)), ids(filtered.Project(h.Events[:i+1])); got != want {
			t.Fatalf("after %d events the view is %q, want %q", i+1, got, want)
		}
		before = append(before, events)
	}
	for i, events := range before {
		if got, want := ids(view.Collect(events)), ids(filtered.Project(h.Events[:i+1])); got != want {
			t.Errorf("the snapshot after %d events became %q, want %q", i+1, got, want)
		}
	}
}

func TestSnapshotAnswersAlikeInEveryWay(t *testing.T) {
	t.Parallel()
	inner, add := stored(t)
	add(rich().Events...)
	for name, events := range map[string]session.Events{
		"session":  filtered.NewFilteredSession(inner).Events(),
		"events":   filtered.NewFilteredEvents(inner.Events()),
		"snapshot": view.NewSnapshot(rich().Events),
		"nil":      filtered.NewFilteredEvents(nil),
		"tail":     view.NewSnapshot(rich().Events).From(3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.Collect(events.All())
			if len(all) != events.Len() {
				t.Fatalf("All yields %d events, Len is %d", len(all), events.Len())
			}
			for i, ev := range all {
				if events.At(i) != ev {
					t.Errorf("At(%d) is not what All yields", i)
				}
			}
			for _, i := range []int{-1, len(all), len(all) + 7} {
				if ev := events.At(i); ev != nil {
					t.Errorf("At(%d) is %s, want nil", i, ev.ID)
				}
			}
			for range events.All() {
				break // a reader that stops early
			}
		})
	}
}

// list is an inner session whose events are whatever the test says.
type list struct {
	session.Session
	events *[]*session.Event
}

func (l list) Events() session.Events {
	if *l.events == nil {
		return nil
	}
	return fixed(*l.events)
}

type fixed []*session.Event

func (f fixed) All() iter.Seq[*session.Event] { return slices.Values(f) }
func (f fixed) Len() int                      { return len(f) }
func (f fixed) At(i int) *session.Event       { return f[i] }

func TestSessionFollowsAnInnerOneThatIsReplaced(t *testing.T) {
	t.Parallel()
	var events []*session.Event
	s := filtered.NewFilteredSession(list{events: &events})
	some := turns(2).Events
	a, b, c, d := some[0], some[1], some[2], some[3]
	for _, next := range [][]*session.Event{
		nil,
		turns(2).Events,
		turns(3).Compact("s", "e1", "e2").Events, // all events are new
		turns(1).Events,                          // fewer than before
		{a, b, c},
		{a, c, b, d}, // the same beginning, another order
		{b, a, c, d}, // the same end
		{},
		{nil, nil},
		nil,
	} {
		events = next
		if got, want := view.Collect(s.Events()), filtered.Project(next); !same(got, want) {
			t.Errorf("view is %q, want the new %q", ids(got), ids(want))
		}
	}
}

// source counts how often it is asked.
type source struct{ asked int }

func (s *source) Events() session.Events { s.asked++; return view.NewSnapshot(nil) }

func TestSessionTakesItsEventsFromItsSource(t *testing.T) {
	t.Parallel()
	inner, _ := stored(t)
	from := &source{}
	s := filtered.NewSession(inner, from)
	if s.Events().Len() != 0 || from.asked != 1 || s.Source() != from {
		t.Errorf("the source was asked %d times", from.asked)
	}
}

func Example() {
	h := &ct.History{}
	h.Turn("inv1", "agent", "Book a table for four.", "At which restaurant?")
	h.Turn("inv2", "agent", "Casa Lola, at eight.", "Done: Casa Lola, 20:00, four people.")
	h.Turn("inv3", "agent", "Thank you!", "You are welcome.")
	h.Compact("summary", "e1", "e2", "e3", "e4") // a service with compaction stores such records

	for _, ev := range filtered.Project(h.Events) {
		fmt.Println(ev.Author, ev.ID)
	}
	// Output:
	// user summary
	// user e5
	// agent e6
}

func ExampleNewFilteredSession() {
	ctx := context.Background()
	service := session.InMemoryService()
	created, err := service.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user"})
	if err != nil {
		panic(err)
	}
	s := filtered.NewFilteredSession(created.Session)
	ev := session.NewEventWithContext(ctx, "inv1")
	ev.Author = "user"
	ev.Content = genai.NewContentFromText("Hello!", genai.RoleUser)
	if err := service.AppendEvent(ctx, created.Session, ev); err != nil {
		panic(err)
	}
	fmt.Println(s.Events().Len(), s.Events().At(0).Content.Parts[0].Text)
	// Output: 1 Hello!
}
