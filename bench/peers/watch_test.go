package main

import (
	"slices"
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

// The writer must keep every text that it reads and add none. Otherwise its mistakes would count
// against a way.
func TestTheWriterForgetsNothingAndInventsNothing(t *testing.T) {
	t.Parallel()
	o := &oracle{window: 200}
	ask := func(said string) string {
		for resp, err := range o.GenerateContent(t.Context(), request(text(said)), false) {
			if err != nil {
				t.Fatal(err)
			}
			return resp.Content.Parts[0].Text
		}
		return ""
	}
	if got := ask(mark("one", 3) + fact(1) + mark("two", 3)); !slices.Equal(compactiontest.Facts(got), []string{fact(1), fact(3)}) {
		t.Errorf("wrote %q", got)
	}
	o.aside.Store(true)
	if got := ask("nothing to see" + strings.Repeat(" at all", 100)); strings.Contains(got, "FACT") {
		t.Errorf("wrote %q", got)
	}
	if o.calls != 2 || o.waited != 1 || o.tokens == 0 || o.over != 1 {
		t.Errorf("%d calls, %d waited for, %d too long, %d tokens; want 2, 1, 1 and some", o.calls, o.waited, o.over, o.tokens)
	}
}

// Two cut readings of a text do not add up to the whole. A text that the writer read uncut has no
// excuse for being missing.
func TestTheWriterKnowsWhatItWasShownCut(t *testing.T) {
	t.Parallel()
	o := &oracle{}
	read := func(found map[int]pieces, facts ...string) {
		t.Helper()
		if got := o.read(shown{marks: found}); !slices.Equal(compactiontest.Facts(got), facts) {
			t.Errorf("of %v it wrote %q, want the facts %q", found, got, facts)
		}
	}
	read(map[int]pieces{1: start | end, 2: whole}, fact(2))
	read(map[int]pieces{1: middle, 2: start})
	if o.why(1) != cut || o.why(2) != none || o.why(3) != none {
		t.Errorf("why: %v, %v, %v; want cut, none, none", o.why(1), o.why(2), o.why(3))
	}
	o.wrote(o.Name())
	if o.why(2) != none {
		t.Error("an oracle's own summary counts as an excuse")
	}
	o.wrote("")
	if o.why(1) != cut || o.why(2) != rough {
		t.Errorf("after a summary of another: %v and %v, want cut and rough", o.why(1), o.why(2))
	}
}

func TestRequestsAreComparedWithWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	p := &planted{users: []int{0, 2}, results: []int{1}, said: []int{1, 1, 2, 2, 2}, answered: []int{0, 1, 1, 1, 1}}
	writer := &oracle{}
	w := newWatch(p, writer, 1_000_000)
	w.request(0, 0, request(text(fact(0))))
	w.request(1, 0, request(text(fact(0))))                                 // lacks the new result
	w.request(2, 1, request(text(mark("one", 1)), text(fact(2)+"START-0"))) // lacks the first message
	if w.seen.kept != 1 {
		t.Errorf("%d results known, want 1", w.seen.kept)
	}
	writer.read(shown{marks: map[int]pieces{0: start, 1: start | end}})
	w.request(3, 1, request(text(fact(2)+" START-00000"))) // lacks the text that the writer read cut
	if w.seen.cut != 1 {
		t.Errorf("%d results cut, want 1", w.seen.cut)
	}
	writer.read(shown{marks: map[int]pieces{1: whole}})
	w.request(4, 1, request(text(fact(0)+fact(2)+" END-00001"))) // lacks the result, which the writer read
	want := figures{requests: 5, missing: 2, missingCut: 1, results: 1, unread: 1}
	got := w.seen
	got.prompt, got.cached, got.largest, got.breaks, got.before, got.same = 0, 0, 0, 0, 0, 0
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestThePrefixEndsAtTheFirstDifferentByte(t *testing.T) {
	t.Parallel()
	w := newWatch(plant(invented()), &oracle{}, 1)
	first := []*genai.Content{text("one"), text("two")}
	w.request(0, 0, request(first...))
	whole := len(w.last[0].json) + len(w.last[1].json)
	w.request(1, 0, request(text("one"), text("two"), text("three")))
	if w.seen.same != whole || w.seen.before != whole {
		t.Errorf("%d of %d bytes kept where all were", w.seen.same, w.seen.before)
	}
	w.seen.same, w.seen.before = 0, 0
	w.request(2, 0, request(text("one"), text("twist"), text("three")))
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

// The prompts of such a way cannot be compared with those of other ways.
func TestAWayThatChangesTheConversationIsRefused(t *testing.T) {
	t.Parallel()
	mute := func(base session.Service, _ *oracle, _ int) (app, error) {
		p, err := plugin.New(plugin.Config{Name: "mute", BeforeModelCallback: func(agent.CallbackContext, *model.LLMRequest) (*model.LLMResponse, error) {
			return compactiontest.Say("No."), nil
		}})
		return app{service: base, plugins: []*plugin.Plugin{p}}, err
	}
	_, err := play(t.Context(), plant(invented()), way{name: "mute", open: mute}, narrow, course{})
	if err == nil || !strings.Contains(err.Error(), "asked 0 times") {
		t.Errorf("a way that answers instead of the model: %v", err)
	}
}
