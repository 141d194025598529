package compactiontest

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/record"
)

// History builds the events of a session. Each event gets an ID ("e1", "e2", …) and a timestamp one
// second after the previous event. The zero value is an empty history. History is not safe for
// concurrent use. Its methods return the History itself, so that calls can be chained:
//
//	h := new(History).User("inv1", "Book it.").Call("inv1", "agent", "book", "c1").Response("inv1", "agent", "book", "done", "c1")
//	// e1: the user asks; e2: the agent calls tool book with call ID c1; e3: the response to c1
type History struct {
	Events []*session.Event
	branch string
}

// Branch puts the events that follow on a branch. The root branch is "".
func (h *History) Branch(branch string) *History {
	h.branch = branch
	return h
}

// User adds a text event of the user.
func (h *History) User(invocation, text string) *History {
	return h.Add(invocation, "user", genai.NewContentFromText(text, genai.RoleUser))
}

// Agent adds a text event of an agent.
func (h *History) Agent(invocation, agent, text string) *History {
	return h.Add(invocation, agent, genai.NewContentFromText(text, genai.RoleModel))
}

// Call adds one event with a call of the tool per ID.
func (h *History) Call(invocation, agent, tool string, ids ...string) *History {
	content := &genai.Content{Role: genai.RoleModel}
	for _, id := range ids {
		content.Parts = append(content.Parts, &genai.Part{
			FunctionCall: &genai.FunctionCall{ID: id, Name: tool, Args: map[string]any{"for": id}},
		})
	}
	return h.Add(invocation, agent, content)
}

// LongCall adds an event with one long-running call.
func (h *History) LongCall(invocation, agent, tool, id string) *History {
	return h.Call(invocation, agent, tool, id).Long(id)
}

// Long marks calls of the newest event as long-running.
func (h *History) Long(ids ...string) *History {
	h.Last().LongRunningToolIDs = ids
	return h
}

// Response adds one event with a response per ID. The author is the agent, or "user" for an answer
// that a person gives.
func (h *History) Response(invocation, author, tool, result string, ids ...string) *History {
	content := &genai.Content{Role: genai.RoleUser}
	for _, id := range ids {
		content.Parts = append(content.Parts, &genai.Part{
			FunctionResponse: &genai.FunctionResponse{ID: id, Name: tool, Response: map[string]any{"result": result}},
		})
	}
	return h.Add(invocation, author, content)
}

// Turn adds a user's question and an agent's answer.
func (h *History) Turn(invocation, agent, question, answer string) *History {
	return h.User(invocation, question).Agent(invocation, agent, answer)
}

// Turns adds n turns with the invocation IDs "inv1" to "inv<n>". The questions hold the facts
// [Fact](1) to [Fact](n).
func (h *History) Turns(n int, agent string) *History {
	for i := 1; i <= n; i++ {
		h.Turn(fmt.Sprintf("inv%d", i), agent,
			fmt.Sprintf("Question %d: please remember that the code for item %d is %s.", i, i, Fact(i)),
			fmt.Sprintf("Answer %d: I have written down the code for item %d.", i, i))
	}
	return h
}

// Add adds an event with the given content.
func (h *History) Add(invocation, author string, content *genai.Content) *History {
	n := len(h.Events) + 1
	return h.AddEvent(&session.Event{
		ID:           fmt.Sprintf("e%d", n),
		InvocationID: invocation,
		Author:       author,
		LLMResponse:  model.LLMResponse{Content: content},
	})
}

// AddEvent adds an event. It sets the timestamp and the branch only if they are empty.
func (h *History) AddEvent(ev *session.Event) *History {
	if ev.Timestamp.IsZero() {
		ev.Timestamp = histories.Epoch.Add(time.Duration(len(h.Events)+1) * time.Second)
	}
	if ev.Branch == "" {
		ev.Branch = h.branch
	}
	h.Events = append(h.Events, ev)
	return h
}

// Last returns the newest event.
func (h *History) Last() *session.Event { return h.Events[len(h.Events)-1] }

// Record returns a record event that covers the events with the given IDs. The events must all be
// on one branch. The record gets the given ID and a text that holds the facts of its events.
func (h *History) Record(id string, covered ...string) *session.Event {
	return histories.RecordOver(h.Events, id, covered)
}

// Compact adds a record over the events with the given IDs. See [History.Record].
func (h *History) Compact(id string, covered ...string) *History {
	h.Events = append(h.Events, h.Record(id, covered...))
	return h
}

// Merge adds a record that covers no events and absorbs the records with the given record IDs.
func (h *History) Merge(id string, absorbed ...string) *History {
	var records []*session.Event
	for _, ev := range h.Events {
		if m, err := record.From(ev); err == nil && m != nil && slices.Contains(absorbed, m.RecordID) {
			records = append(records, ev)
		}
	}
	h.Events = append(h.Events, histories.Absorb(id, records...))
	return h
}

// Amend changes the record that was added last.
func (h *History) Amend(change func(m *record.Metadata)) *History {
	h.Events[len(h.Events)-1] = histories.Amend(h.Last(), change)
	return h
}

// IDs returns the IDs of events, in order.
func IDs(events []*session.Event) []string {
	ids := make([]string, len(events))
	for i, ev := range events {
		if ev == nil {
			ids[i] = "<nil>"
			continue
		}
		ids[i] = ev.ID
	}
	return ids
}
