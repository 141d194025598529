package gemini_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
)

// The real answer arrives after twelve turns, half of them summarized. The model then calls more
// tools in the same turn.
func TestLateAnswerOfALongRunningToolStaysValidForGemini(t *testing.T) {
	t.Parallel()
	for _, variant := range []struct {
		name string
		mode agent.StreamingMode
		ids  bool
	}{
		{"without IDs", agent.StreamingModeNone, false},
		{"with IDs", agent.StreamingModeNone, true},
		{"streamed", agent.StreamingModeSSE, false},
	} {
		t.Run(variant.name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, nil)
			a.mode, a.answersLate = variant.mode, true
			a.chat(3)
			a.will(assistant, calling("order", variant.ids, a.number(), a.number()), answer())
			calls := callsOf(a.ask(), "order")
			a.chat(12)
			if n := len(a.log.of(compaction.Stored)); n < 2 {
				t.Fatalf("%d compactions before the answer, want some", n)
			}
			for i, call := range slices.Backward(calls) {
				a.will(assistant, a.lookups(variant.ids, 1+i), answer())
				a.late(call)
				a.chat(6)
			}
			a.verify(4)
		})
	}
}

// late sends the real answer to a call, and checks that the model receives it.
func (a *app) late(call *genai.FunctionCall) {
	a.t.Helper()
	n := a.number()
	a.tell(n)
	before := len(a.received(false))
	_, err := a.send(a.t.Context(), &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
		ID: call.ID, Name: call.Name, Response: map[string]any{"n": call.Args["n"], "fact": compactiontest.Fact(n), "details": "delivered"},
	}}}})
	if err != nil {
		a.t.Fatal(err)
	}
	contents := a.received(false)[before].Contents
	last := contents[len(contents)-1].responses()
	if !slices.ContainsFunc(last, func(r *wireResponse) bool { return r.Name == call.Name && r.Response["fact"] == compactiontest.Fact(n) }) {
		a.t.Errorf("the request does not end with the late answer:\n%s", outline(a.received(false)[before].body))
	}
}

func callsOf(events []*session.Event, name string) []*genai.FunctionCall {
	var out []*genai.FunctionCall
	for _, ev := range events {
		if ev.Content == nil || ev.Partial {
			continue
		}
		for _, p := range ev.Content.Parts {
			if p.FunctionCall != nil && p.FunctionCall.Name == name {
				out = append(out, p.FunctionCall)
			}
		}
	}
	return out
}

// The root transfers to a clerk with another model, who works for many turns and then transfers
// back. Each receives the other's turns as context and is called only in its own turns.
func TestTransferStaysValidForGemini(t *testing.T) {
	t.Parallel()
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			a := newApp(t, nil)
			a.mode = mode
			sub := a.agent("clerk", clerk, []tool.Tool{a.lookup()})
			a.start(a.agent("assistant", assistant, []tool.Tool{a.lookup()}, sub))
			a.chat(3)
			a.will(assistant, a.lookups(false, 1), transfer("clerk"))
			for range 16 {
				a.will(clerk, a.lookups(false, 2), answer())
				a.ask()
			}
			a.will(clerk, transfer("assistant"))
			a.chat(8)
			a.verify(4)
			asked := map[string]int{}
			for _, r := range a.received(false) {
				asked[r.model]++
				if !strings.Contains(r.SystemInstruction.text(), map[string]string{assistant: `"assistant"`, clerk: `"clerk"`}[r.model]) {
					t.Errorf("%s was asked as %q", r.model, r.SystemInstruction.text())
				}
			}
			if asked[clerk] != 33 || asked[assistant] != 13 {
				t.Errorf("asked %v", asked)
			}
		})
	}
}
