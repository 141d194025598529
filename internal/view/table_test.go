package view_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/testkit/histories"
	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/record"
)

// row is one history and the IDs of its view; summaries go by the IDs of their records.
type row struct {
	name string
	h    *ct.History
	want string
}

// h starts a history.
func h() *ct.History { return &ct.History{} }

// ids writes a view as the IDs of its events.
func ids(shown []*session.Event) string { return strings.Join(ct.IDs(shown), " ") }

// at is a moment of a history: its n-th event has it.
func at(n int) time.Time { return histories.Epoch.Add(time.Duration(n) * time.Second) }

// standing makes a record the summary of an agent's tool rounds behind an event.
func standing(agent string, after *session.Event) func(*record.Metadata) {
	return func(m *record.Metadata) { m.Agent, m.After = agent, record.RefTo(after) }
}

// nowhere makes a record stand behind an event that does not exist.
func nowhere(agent, invocation string) func(*record.Metadata) {
	return func(m *record.Metadata) {
		m.Agent, m.StartInvocationID = agent, invocation
		m.After = record.Ref{ID: "gone", InvocationID: invocation, Author: "user"}
	}
}

// madeAt sets when a record was made.
func madeAt(n int) func(*record.Metadata) {
	return func(m *record.Metadata) { m.CreatedAt = at(n) }
}

// run projects each row's history, at once and step by step, and compares.
func run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			shown := view.Project(r.h.Events)
			if got := ids(shown); got != r.want {
				t.Errorf("view is %q, want %q", got, r.want)
			}
			if err := ct.Check(r.h.Events, shown); err != nil {
				t.Errorf("view breaks a rule: %v", err)
			}
			grown := view.New(nil)
			for _, ev := range r.h.Events {
				grown.Append(ev)
			}
			if got := ids(slices.Collect(grown.Events().All())); got != r.want {
				t.Errorf("view grown event by event is %q, want %q", got, r.want)
			}
		})
	}
}

// metadata is a response with a value under the key of a record and nothing else.
func metadata(value any) model.LLMResponse {
	return model.LLMResponse{CustomMetadata: map[string]any{record.Key: value}}
}
