package persistence_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

func request(id string) *session.GetRequest {
	return &session.GetRequest{AppName: app, UserID: user, SessionID: id}
}

// tester is the common interface of a test and a property test.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func active(t tester, s *persistence.SQLiteSessionService, id string) *persistence.ActiveSession {
	t.Helper()
	resp, err := s.GetActive(context.Background(), request(id))
	if err != nil {
		t.Fatal(err)
	}
	return resp.Session.(*persistence.ActiveSession)
}

// stores appends a history to a new session.
func stores(t *testing.T, h *ct.History) *persistence.SQLiteSessionService {
	t.Helper()
	s := open(t, newPath(t), persistence.WithSynchronousNormal())
	appendTo(t, s, create(t, s, "s"), h.Events...)
	return s
}

func TestOnlyWhatTheViewNeedsIsLoaded(t *testing.T) {
	t.Parallel()
	h := func() *ct.History { return &ct.History{} }
	talk := func() *ct.History { return h().Turns(4, "bot") } // e1 to e8
	rounds := func() *ct.History {
		x := h().Turn("i1", "bot", "q", "a").User("i2", "q")
		for _, id := range []string{"a", "b", "c"} {
			x.Call("i2", "bot", "t", id).Response("i2", "bot", "t", "r", id)
		}
		return x // e3 opens i2, e4 to e9 are three rounds
	}
	stand := func(m *record.Metadata) { m.After, m.Agent = record.Ref{ID: "e3"}, "bot" }
	for name, r := range map[string]struct {
		h    *ct.History
		want string
	}{
		"no record":                           {talk(), "e1 e2 e3 e4 e5 e6 e7 e8"},
		"a window":                            {talk().Compact("r1", "e1", "e2"), "e3 e4 e5 e6 e7 e8 event-of-r1"},
		"two windows merged":                  {talk().Compact("r1", "e1", "e2").Compact("r2", "e3", "e4").Merge("r3", "r1", "r2"), "e5 e6 e7 e8 event-of-r3"},
		"newest of each speaker is loaded":    {talk().Compact("r1", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"), "e7 e8 event-of-r1"},
		"rounds and their anchor":             {rounds().Compact("r1", "e4", "e5", "e6", "e7").Amend(stand).Agent("i2", "bot", "so").User("i3", "q").Compact("r2", "e1", "e2", "e3"), "e3 e8 e9 event-of-r1 e11 e12 event-of-r2"},
		"a late answer loads its call":        {h().Call("i1", "bot", "t", "a", "b").Response("i1", "bot", "t", "r", "a").Turns(3, "bot").Compact("r1", "e1", "e2", "e3", "e4").Response("i9", "user", "t", "r", "b"), "e1 e2 e5 e6 e7 e8 event-of-r1 e10"},
		"a reused ID loads no old call":       {h().Call("i1", "bot", "t", "1").Response("i1", "bot", "t", "r", "1").Turns(2, "bot").Compact("r1", "e1", "e2").Call("i4", "bot", "t", "1").Response("i4", "bot", "t", "r", "1"), "e3 e4 e5 e6 event-of-r1 e8 e9"},
		"a response of another branch":        {h().Branch("p.a").Call("i1", "a", "t", "1").Branch("p.b").Call("i1", "b", "t", "1").Branch("p.a").Response("i1", "a", "t", "r", "1").Compact("r1", "e1", "e3").Branch("p.b").Response("i1", "b", "t", "r", "1").Agent("i1", "b", "so"), "e2 event-of-r1 e5 e6"},
		"an answer to two calls":              {h().Call("i1", "bot", "t", "a").Call("i1", "bot", "t", "b").Turns(1, "bot").Compact("r1", "e1", "e2", "e3").Response("i2", "bot", "t", "r", "a", "b"), "e1 e2 e3 e4 event-of-r1 e6"},
		"an answer without a call":            {h().Response("i1", "bot", "t", "r", "x").Turns(2, "bot").Compact("r1", "e1", "e2"), "e3 e4 e5 event-of-r1"},
		"a copy of a record":                  {copied(talk().Compact("r1", "e1", "e2")), "e3 e4 e5 e6 e7 e8 event-of-r1"},
		"a record in Go's own types":          {raw(talk().Compact("r1", "e1", "e2")), "e3 e4 e5 e6 e7 e8 event-of-r1"},
		"an ambiguous ID loads all":           {twins(talk()).Compact("r1", "a\ufffd"), "a\xff a\ufffd e3 e4 e5 e6 e7 e8 event-of-r1"},
		"a record that cannot be read":        {broken(talk().Compact("r1", "e1", "e2")), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1"},
		"duplicate coverage loads all":        {talk().Compact("r1", "e1", "e2").Compact("r2", "e1", "e2"), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1 event-of-r2"},
		"an unknown reference loads all":      {talk().Compact("r1", "e1").Amend(func(m *record.Metadata) { m.Covered = append(m.Covered, record.Ref{ID: "x"}) }), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1"},
		"another branch loads all":            {talk().Compact("r1", "e1").Amend(func(m *record.Metadata) { m.Branch = "b" }), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1"},
		"absorbing itself loads all":          {talk().Compact("r1", "e1").Amend(func(m *record.Metadata) { m.Absorbed = []string{"r1"} }), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1"},
		"absorbed twice loads all":            {talk().Compact("r1", "e1").Merge("r2", "r1").Merge("r3", "r1"), "e1 e2 e3 e4 e5 e6 e7 e8 event-of-r1 event-of-r2 event-of-r3"},
		"an unknown anchor loads all":         {rounds().Compact("r1", "e4", "e5").Amend(func(m *record.Metadata) { m.After, m.Agent = record.Ref{ID: "x"}, "bot" }), "e1 e2 e3 e4 e5 e6 e7 e8 e9 event-of-r1"},
		"another agent loads all":             {rounds().Compact("r1", "e4", "e5").Amend(func(m *record.Metadata) { m.After, m.Agent = record.Ref{ID: "e3"}, "other" }), "e1 e2 e3 e4 e5 e6 e7 e8 e9 event-of-r1"},
		"an answer before its call loads all": {h().Response("i1", "bot", "t", "r", "x").Turns(2, "bot").Compact("r1", "e1", "e2").Call("i4", "bot", "t", "x"), "e1 e2 e3 e4 e5 event-of-r1 e7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stores(t, r.h)
			sameView(t, s, "s")
			if got := strings.Join(ids(active(t, s, "s")), " "); got != r.want {
				t.Errorf("loaded %s\n  want %s", got, r.want)
			}
		})
	}
}

// copied appends a copy of the newest event, under another ID.
func copied(h *ct.History) *ct.History {
	again := *h.Last()
	again.ID += "-copy"
	return h.AddEvent(&again)
}

// raw stores the newest record as a generic value, which becomes a record only through JSON.
func raw(h *ct.History) *ct.History {
	text, err := json.Marshal(h.Last().CustomMetadata[record.Key])
	if err != nil {
		panic(err)
	}
	h.Last().CustomMetadata[record.Key] = json.RawMessage(text)
	return h
}

// twins gives two events IDs that are equal in a record.
func twins(h *ct.History) *ct.History {
	h.Events[0].ID, h.Events[1].ID = "a\xff", "a\ufffd"
	return h
}

func broken(h *ct.History) *ct.History {
	h.Last().CustomMetadata = map[string]any{record.Key: "{"}
	return h
}

// Only a covered message shows that the invocation is over, because the newest message belongs to
// the same invocation.
func TestAnInterruptedCallIsAnsweredAlthoughTheMessageBehindItIsNotLoaded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		branch, between string // of the call, and of the message
		invocation      string
		want            bool
	}{
		{invocation: "j", want: true},
		{branch: "p.a", invocation: "j", want: true},
		{branch: "p.a", between: "p", invocation: "j", want: true},
		{branch: "p.a", between: "p.b", invocation: "j"},
		{branch: "p.ab", between: "p.a", invocation: "j"},
		{invocation: "i"},
	} {
		h := (&ct.History{}).User("i", "q").Branch(row.branch).Call("i", "bot", "t", "open")
		h.Branch(row.between).Turn(row.invocation, "bot", "q", "a").Branch("").Turn("i", "bot", "q", "a")
		h.Branch(row.between).Compact("r1", "e3", "e4")
		s := stores(t, h)
		if !sameView(t, s, "s") {
			t.Fatal("everything is loaded")
		}
		if got := active(t, s, "s").Overtaken("e2"); got != row.want {
			t.Errorf("call in %q, message of %s in %q: overtaken %t, want %t", row.branch, row.invocation, row.between, got, row.want)
		}
	}
}

// Appends through an active session are stored and visible in the handle, as through any other
// handle.
func TestAppendsThroughAnActiveSessionAreStored(t *testing.T) {
	t.Parallel()
	s := stores(t, (&ct.History{}).Turns(4, "bot").Compact("r1", "e1", "e2", "e3"))
	few := active(t, s, "s")
	before := few.Events().Len()
	ev := text("new", "more")
	ev.Actions.StateDelta = map[string]any{"k": "v"}
	appendTo(t, s, few, ev)
	if few.Events().Len() != before+1 || few.Events().At(before).ID != "new" {
		t.Error("the handle does not show the event appended through it")
	}
	if value, err := few.State().Get("k"); value != "v" || err != nil {
		t.Errorf("the handle's state is %v, %v", value, err)
	}
	if got := ids(get(t, s, "s")); len(got) != 10 || got[9] != "new" {
		t.Errorf("stored: %v", got)
	}
}
