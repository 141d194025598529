package audit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// An isolation scope has the ID of the call that opened it. After a redaction it still has, two scopes are still two, and a
// record still names the branch and the scope of the events that it covers.
func TestARedactedScopeNamesItsCall(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(1, "bot")
	for i, id := range []string{"call-500", "call-501", "call-502"} {
		open := &session.Event{ID: fmt.Sprint("o", i), InvocationID: "i1", Author: "bot", Timestamp: time.Unix(int64(10+i), 0).UTC()}
		open.Content = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: id, Name: "work"}}}}
		h.AddEvent(open)
	}
	for i, id := range []string{"call-501", "call-502"} {
		ev := &session.Event{ID: fmt.Sprint("s", i), InvocationID: "i1", Author: "worker", Timestamp: time.Unix(int64(20+i), 0).UTC()}
		ev.Content = genai.NewContentFromText("I have looked.", genai.RoleModel)
		adk.SetLane(ev, adk.JoinLane("desk", id))
		h.AddEvent(ev)
	}
	h.Compact("r1", "s1")
	h.Amend(func(m *record.Metadata) { m.Branch = adk.JoinLane("desk", "call-502") })
	events := eventsOf(t, exported(t, built(t, h), audit.JSONL, `50\d`))
	var calls, scopes []string
	last := ""
	for _, ev := range events {
		for _, call := range adk.FunctionCalls(ev) {
			calls = append(calls, call.ID)
		}
		if branch, scope := adk.SplitLane(adk.Lane(ev)); scope != "" && !record.Is(ev) {
			if scopes, last = append(scopes, scope), adk.Lane(ev); branch != "desk" {
				t.Errorf("event %s is in branch %q", ev.ID, branch)
			}
		}
	}
	if len(calls) != 3 || calls[1] == calls[2] || !slices.Equal(calls[1:], scopes) {
		t.Errorf("the calls are %q, the scopes those of %q", calls, scopes)
	}
	m, err := record.From(events[len(events)-1])
	if err != nil || m == nil || m.Branch != last {
		t.Errorf("%v: the record is %+v, and its events are in lane %q", err, m, last)
	}
}
