package persistence_test

import (
	"context"
	"fmt"

	"google.golang.org/genai"
	"pgregory.net/rapid"

	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// tale is a session that grows randomly.
type tale struct {
	*rapid.T
	path    string
	id      string // of the session
	service *persistence.SQLiteSessionService
	handle  session.Session
	h       ct.History
	records int
	called  []string
	// wild allows answers before their calls, and records that a single well-behaved writer never
	// creates.
	wild bool
}

func (x *tale) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(x.T, label) }

func (x *tale) invocation() string {
	return fmt.Sprint("i", len(x.h.Events)/5+rapid.IntRange(0, 1).Draw(x.T, "ahead"))
}

// callID returns an ID for a call. It is nearly always a reused one.
func (x *tale) callID() string {
	id := x.one("call", "1", "2", "3", "")
	x.called = append(x.called, id)
	return id
}

// answered returns the ID of an answer.
func (x *tale) answered() string {
	if x.wild {
		return x.callID()
	}
	return x.one("answered", x.called...)
}

func (x *tale) speak() {
	x.h.Branch(x.one("branch", "", "", "p.a", "p.b"))
	agent, inv := x.one("agent", "bot", "bot", "helper"), x.invocation()
	kind := rapid.IntRange(0, 9).Draw(x.T, "kind")
	if len(x.called) == 0 && !x.wild && kind >= 6 && kind <= 8 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		x.h.User(inv, "question")
	case 2, 3:
		x.h.Agent(inv, agent, "answer")
	case 4:
		x.h.Call(inv, agent, "tool", x.callID())
	case 5:
		x.h.Call(inv, agent, "tool", x.callID(), x.callID()).Long("1")
	case 6:
		x.h.Response(inv, x.one("author", agent, "user"), "tool", "result", x.answered())
	case 7:
		x.h.Response(inv, agent, "tool", "results", x.answered(), x.answered())
	case 8:
		original := x.answered() // ADK stores a response that asks for the confirmation first
		x.h.Response(inv, agent, "tool", "it needs a confirmation", original).Call(inv, agent, toolconfirmation.FunctionCallName, x.callID())
		x.h.Last().Content.Parts[0].FunctionCall.Args = map[string]any{"originalFunctionCall": map[string]any{"id": original, "name": "tool"}}
	default:
		x.h.Add(inv, x.one("author", agent, "user", ""), nil)
		x.h.Last().InputTranscription = &genai.Transcription{Text: "spoken"}
	}
}

// uncovered returns the IDs of the events of a branch that no record covers, and the current
// records of the branch.
func (x *tale) uncovered(branch, author string) (events, records []string) {
	state := view.Inspect(x.h.Events)
	for i, ev := range x.h.Events {
		if !record.Is(ev) && ev.Branch == branch && !state.CoveredAt(i) && (author == "" || ev.Author == author) {
			events = append(events, ev.ID)
		}
	}
	for _, m := range state.Current {
		if m.Branch == branch {
			records = append(records, m.RecordID)
		}
	}
	return events, records
}

func some(x *tale, of []string) []string {
	if len(of) == 0 {
		return nil
	}
	from := rapid.IntRange(0, len(of)-1).Draw(x.T, "from")
	return of[from:rapid.IntRange(from+1, len(of)).Draw(x.T, "to")]
}

func (x *tale) compact() bool {
	branch := x.one("branch", "", "", "p.a", "p.b")
	events, records := x.uncovered(branch, "")
	events = some(x, events)
	name := fmt.Sprint("r", x.records)
	switch rapid.IntRange(0, 3).Draw(x.T, "what") {
	case 0: // a merge, with or without a window
		records = some(x, records)
		if len(records) == 0 {
			return false
		}
		x.h.Merge(name, records...)
		if rapid.Bool().Draw(x.T, "both") {
			x.h.Amend(func(m *record.Metadata) {
				for _, id := range events {
					m.Covered = append(m.Covered, record.Ref{ID: id})
				}
			})
		}
	case 1: // tool rounds
		rounds, _ := x.uncovered(branch, "bot")
		rounds = some(x, rounds)
		if len(rounds) == 0 {
			return false
		}
		after := x.h.Events[rapid.IntRange(0, len(x.h.Events)-1).Draw(x.T, "after")]
		if record.Is(after) {
			return false
		}
		x.h.Compact(name, rounds...).Amend(func(m *record.Metadata) { m.After, m.Agent = record.RefTo(after), "bot" })
	default:
		if len(events) == 0 {
			return false
		}
		x.h.Compact(name, events...)
	}
	x.records++
	if x.wild {
		x.spoil()
	}
	return true
}

// spoil replaces the newest record by something invalid.
func (x *tale) spoil() {
	event := func() string { return fmt.Sprint("e", rapid.IntRange(1, len(x.h.Events)+2).Draw(x.T, "event")) }
	earlier := func() string { return fmt.Sprint("r", rapid.IntRange(0, x.records).Draw(x.T, "record")) }
	x.h.Amend(func(m *record.Metadata) {
		switch rapid.IntRange(0, 11).Draw(x.T, "spoil") {
		case 0:
			m.Covered = append(m.Covered, record.Ref{ID: event()})
		case 1:
			m.Absorbed = append(m.Absorbed, earlier())
		case 2:
			m.RecordID = earlier()
		case 3:
			m.Branch = "p.a"
		case 4:
			m.After, m.Agent = record.Ref{ID: event()}, "helper"
		case 5:
			m.Covered = append(m.Covered, record.RefTo(x.h.Events[0]))
			m.Covered[0].ID = ""
		case 6:
			m.CreatedAt = histories.Epoch
		}
	})
	if rapid.IntRange(0, 7).Draw(x.T, "break") == 0 {
		broken(&x.h)
	}
}

// begin creates the session. All tales share a file, because opening one takes longer than a tale.
func (x *tale) begin() {
	created, err := x.service.Create(context.Background(), &session.CreateRequest{AppName: app, UserID: user, SessionID: x.id})
	if err != nil {
		x.Fatal(err)
	}
	x.handle = created.Session
}

func (x *tale) reopen() {
	if err := x.service.Close(); err != nil {
		x.Fatal(err)
	}
	var err error
	if x.service, err = persistence.NewSQLiteSessionService(x.path, persistence.WithSynchronousNormal()); err != nil {
		x.Fatal(err)
	}
	x.handle = active(x, x.service, x.id)
}
