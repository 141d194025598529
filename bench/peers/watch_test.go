package main

import (
	"strings"
	"testing"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/plugin"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/compactiontest"
)

func text(s string) *genai.Content { return genai.NewContentFromText(s, genai.RoleUser) }

func request(contents ...*genai.Content) *model.LLMRequest {
	return &model.LLMRequest{Contents: contents, Config: &genai.GenerateContentConfig{}}
}

func TestEveryMessageAndResultHasItsFact(t *testing.T) {
	t.Parallel()
	before := invented()
	p := plant(before)
	if len(p.users) != 30 || len(p.results) != 24 || len(p.said) != 54 || len(p.answered) != 54 {
		t.Fatalf("%d messages, %d results, %d and %d calls", len(p.users), len(p.results), len(p.said), len(p.answered))
	}
	seen := map[string]bool{}
	result := 0
	for i, turn := range p.conversation.Turns {
		facts := compactiontest.FactsInContents([]*genai.Content{turn.User})
		if len(facts) != 1 || facts[0] != p.users[i] || seen[facts[0]] {
			t.Errorf("message %d holds %v, want a fact of its own, %s", i, facts, p.users[i])
		}
		seen[p.users[i]] = true
		if len(compactiontest.FactsInContents([]*genai.Content{before.Turns[i].User})) > 0 {
			t.Errorf("message %d of the conversation itself was changed: the next way would find two facts in it", i)
		}
		for _, step := range turn.Steps {
			for _, resp := range step.Responses {
				if facts := compactiontest.Facts(resp.Response["log"].(string)); len(facts) != 1 || facts[0] != p.results[result] || seen[facts[0]] {
					t.Errorf("result %d holds %v, want a fact of its own, %s", result, facts, p.results[result])
				}
				seen[p.results[result]] = true
				result++
			}
		}
	}
	if p.said[0] != 1 || p.answered[0] != 0 || p.said[1] != 1 || p.answered[1] != 1 || p.said[53] != 30 || p.answered[53] != 24 {
		t.Errorf("what came before a call is counted wrong: %v messages, %v results", p.said, p.answered)
	}
}

func TestAResultWithoutTextHasItsFactBeside(t *testing.T) {
	t.Parallel()
	for _, response := range []map[string]any{nil, {"rows": 3}} {
		resp := &genai.FunctionResponse{Response: response}
		markResult(resp, "FACT-00001")
		if resp.Response["fact"] != "FACT-00001" {
			t.Errorf("%v has no fact", resp.Response)
		}
	}
}

// TestTheWriterForgetsNothingAndInventsNothing: or a way would be blamed for its writer.
func TestTheWriterForgetsNothingAndInventsNothing(t *testing.T) {
	t.Parallel()
	o := &oracle{}
	ask := func(said string) string {
		for resp, err := range o.GenerateContent(t.Context(), request(text(said)), false) {
			if err != nil {
				t.Fatal(err)
			}
			return resp.Content.Parts[0].Text
		}
		return ""
	}
	if got := ask("FACT-00003 and FACT-00001, and FACT-00003 again"); got != "FACT-00003 FACT-00001" {
		t.Errorf("wrote %q", got)
	}
	o.aside.Store(true)
	if got := ask("nothing to see"); strings.Contains(got, "FACT") {
		t.Errorf("wrote %q", got)
	}
	if o.calls != 2 || o.waited != 1 || o.tokens == 0 {
		t.Errorf("%d calls, %d waited for, %d tokens; want 2, 1 and some", o.calls, o.waited, o.tokens)
	}
}

func TestRequestsAreComparedWithWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	p := &planted{users: []string{"FACT-00000", "FACT-00002"}, results: []string{"FACT-00001"}, said: []int{1, 1, 2, 2}, answered: []int{0, 1, 1, 1}}
	w := newWatch(p, 1_000_000)
	w.request(0, request(text("FACT-00000")))
	w.request(1, request(text("FACT-00000")))                // lacks the new result
	w.request(2, request(text("FACT-00001 and FACT-00002"))) // lacks the first message
	if w.seen.kept != 1 {
		t.Errorf("%d results known, want 1", w.seen.kept)
	}
	w.request(3, request(text("FACT-00000 and FACT-00002"))) // lacks the result, which is old now
	want := figures{requests: 4, missing: 1, results: 1, unread: 1}
	got := w.seen
	got.prompt, got.largest, got.before, got.same = 0, 0, 0, 0
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestThePrefixEndsAtTheFirstDifferentByte(t *testing.T) {
	t.Parallel()
	w := newWatch(&planted{}, 1)
	first := []*genai.Content{text("one"), text("two")}
	w.request(0, request(first...))
	whole := len(w.last[0].json) + len(w.last[1].json)
	w.request(1, request(text("one"), text("two"), text("three")))
	if w.seen.same != whole || w.seen.before != whole {
		t.Errorf("%d of %d bytes kept where all were", w.seen.same, w.seen.before)
	}
	w.seen.same, w.seen.before = 0, 0
	w.request(2, request(text("one"), text("twist"), text("three")))
	kept := len(w.last[0].json) + strings.Index(string(w.last[1].json), "ist")
	if w.seen.same != kept {
		t.Errorf("%d bytes kept, want %d", w.seen.same, kept)
	}
	if w.seen.over != 3 {
		t.Errorf("%d requests over a window of one token, want 3", w.seen.over)
	}
}

func TestOrphansAreCountedOnBothSides(t *testing.T) {
	t.Parallel()
	call := func(id string) *genai.Content {
		return &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: &genai.FunctionCall{ID: id, Name: "look"}}}}
	}
	response := func(id string) *genai.Content {
		return &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: id, Name: "look"}}}}
	}
	for _, tt := range []struct {
		name     string
		contents []*genai.Content
		want     int
	}{
		{"a pair", []*genai.Content{text("hi"), call("1"), response("1")}, 0},
		{"no response", []*genai.Content{call("1"), text("hi")}, 1},
		{"no call", []*genai.Content{response("1"), text("hi")}, 1},
		{"the wrong way round", []*genai.Content{response("1"), call("1")}, 2},
		{"of another call", []*genai.Content{call("1"), response("2")}, 2},
		{"twice", []*genai.Content{call("1"), response("1"), response("1")}, 1},
	} {
		if got := orphans(tt.contents); got != tt.want {
			t.Errorf("%s: %d orphans, want %d", tt.name, got, tt.want)
		}
	}
}

// TestAWayThatChangesTheConversationIsRefused: its prompts could not be compared with the others'.
func TestAWayThatChangesTheConversationIsRefused(t *testing.T) {
	t.Parallel()
	mute := func(base session.Service, _ *oracle, _ int) (app, error) {
		p, err := plugin.New(plugin.Config{Name: "mute", BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
			return compactiontest.Say("No."), nil
		}})
		return app{service: base, plugins: []*plugin.Plugin{p}}, err
	}
	_, err := play(t.Context(), plant(invented()), way{name: "mute", open: mute}, narrow)
	if err == nil || !strings.Contains(err.Error(), "asked 0 times") {
		t.Errorf("a way that answers instead of the model: %v", err)
	}
}
