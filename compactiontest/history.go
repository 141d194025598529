package compactiontest

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// Epoch is the time of the first event of a [History].
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// History builds the events of a session. Each gets an ID ("e1", "e2", …) and a timestamp one second
// after the one before. The zero value is an empty history; it is not safe for concurrent use.
type History struct {
	Events []*session.Event
	branch string
}

// Branch makes the events that follow belong to a branch; "" is the root's.
func (h *History) Branch(branch string) *History {
	h.branch = branch
	return h
}

// User adds something the user says.
func (h *History) User(invocation, text string) *History {
	return h.Add(invocation, "user", genai.NewContentFromText(text, genai.RoleUser))
}

// Agent adds something an agent says.
func (h *History) Agent(invocation, agent, text string) *History {
	return h.Add(invocation, agent, genai.NewContentFromText(text, genai.RoleModel))
}

// Call adds one event with a call of the tool for each ID.
func (h *History) Call(invocation, agent, tool string, ids ...string) *History {
	content := &genai.Content{Role: genai.RoleModel}
	for _, id := range ids {
		content.Parts = append(content.Parts, &genai.Part{
			FunctionCall: &genai.FunctionCall{ID: id, Name: tool, Args: map[string]any{"for": id}},
		})
	}
	return h.Add(invocation, agent, content)
}

// LongCall adds a long-running call.
func (h *History) LongCall(invocation, agent, tool, id string) *History {
	return h.Call(invocation, agent, tool, id).Long(id)
}

// Long makes calls of the newest event long-running.
func (h *History) Long(ids ...string) *History {
	h.Last().LongRunningToolIDs = ids
	return h
}

// Response adds one event with a response for each ID. Author is the agent, or "user" for an answer
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

// Turn adds a question of the user and an agent's answer.
func (h *History) Turn(invocation, agent, question, answer string) *History {
	return h.User(invocation, question).Agent(invocation, agent, answer)
}

// Turns adds n turns with invocations "inv1" to "inv<n>" and the facts [Fact](1) to [Fact](n) in the
// questions.
func (h *History) Turns(n int, agent string) *History {
	for i := 1; i <= n; i++ {
		h.Turn(fmt.Sprintf("inv%d", i), agent,
			fmt.Sprintf("Question %d: please remember that the code for item %d is %s.", i, i, Fact(i)),
			fmt.Sprintf("Answer %d: I have written down the code for item %d.", i, i))
	}
	return h
}

// Add adds an event with any content.
func (h *History) Add(invocation, author string, content *genai.Content) *History {
	n := len(h.Events) + 1
	return h.AddEvent(&session.Event{
		ID:           fmt.Sprintf("e%d", n),
		InvocationID: invocation,
		Author:       author,
		LLMResponse:  model.LLMResponse{Content: content},
	})
}

// AddEvent adds an event as it is, but for its branch and, where it is zero, its timestamp.
func (h *History) AddEvent(ev *session.Event) *History {
	if ev.Timestamp.IsZero() {
		ev.Timestamp = Epoch.Add(time.Duration(len(h.Events)+1) * time.Second)
	}
	if ev.Branch == "" {
		ev.Branch = h.branch
	}
	h.Events = append(h.Events, ev)
	return h
}

// Last returns the newest event.
func (h *History) Last() *session.Event { return h.Events[len(h.Events)-1] }

// Record returns a record event that covers the events with the given IDs, which must all be of one
// branch, with its ID, and a text that holds their facts.
func (h *History) Record(id string, covered ...string) *session.Event {
	return recordOver(h.Events, id, covered)
}

// Compact adds a record over the events with the given IDs, see [History.Record].
func (h *History) Compact(id string, covered ...string) *History {
	h.Events = append(h.Events, h.Record(id, covered...))
	return h
}

// Merge adds a record that absorbs earlier ones, named by their record IDs, and covers nothing.
func (h *History) Merge(id string, absorbed ...string) *History {
	var records []*session.Event
	for _, ev := range h.Events {
		if m, err := record.From(ev); err == nil && m != nil && slices.Contains(absorbed, m.RecordID) {
			records = append(records, ev)
		}
	}
	h.Events = append(h.Events, Absorb(id, records...))
	return h
}

// Amend changes the record that was added last.
func (h *History) Amend(change func(m *record.Metadata)) *History {
	h.Events[len(h.Events)-1] = Amend(h.Last(), change)
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
