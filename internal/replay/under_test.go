package replay

import (
	"strings"
	"testing"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/deepcopy"
)

func TestAHiddenEventIsReported(t *testing.T) {
	t.Parallel()
	event := func(id, author string, c *genai.Content) *session.Event {
		return &session.Event{ID: id, Author: author, InvocationID: "i", LLMResponse: model.LLMResponse{Content: c}}
	}
	events := []*session.Event{
		event("e1", "user", said("user", "one")), event("e2", AgentName, said("model", "two")),
		event("e3", "user", said("user", "three")), event("e4", AgentName, said("model", "four")),
	}
	copies := func(ids ...int) (view []*session.Event) {
		for _, i := range ids {
			view = append(view, deepcopy.Of(events[i]))
		}
		return view
	}
	r := &run{report: &Report{}}
	if r.holdTo(events, copies(0, 1, 2, 3)); r.report.Hidden != 0 {
		t.Errorf("the whole history, read anew, violates something: %v", r.report.Problems)
	}
	if r.holdTo(events, copies(0, 2, 3)); r.report.Hidden != 1 || len(r.report.Problems) != 1 {
		t.Errorf("an event is hidden, and %d violations are reported: %v", r.report.Hidden, r.report.Problems)
	}
}

func TestCallsBeyondTheRecordingAreCounted(t *testing.T) {
	t.Parallel()
	s := &script{c: &conversation.Conversation{Turns: []conversation.Turn{
		{Steps: []conversation.Step{{Answer: said("model", "one")}}}, {},
	}}}
	for _, r := range []struct {
		text  string
		extra int
	}{{"one", 0}, {standIn, 1}, {standIn, 2}} {
		if got := s.next(); got.Parts[0].Text != r.text || s.played.Extra != r.extra {
			t.Errorf("answer %q, %d extra; want %q, %d", got.Parts[0].Text, s.played.Extra, r.text, r.extra)
		}
	}
	s.begin(1)
	if got := s.next(); got.Parts[0].Text != standIn || s.played.Extra != 2 {
		t.Errorf("a message without an answer counts as a call beyond the recording")
	}
}

func TestOrphansOfARequestAreReported(t *testing.T) {
	t.Parallel()
	r := &run{c: &conversation.Conversation{}, whole: &whole{}, gauge: newGauge(), scale: scale{ratio: 1}, report: &Report{Limit: 1_000}}
	r.request(0, 0, request(said("user", "go"), called("1")))
	r.request(1, 0, request(said("user", "go"), called("1"), answered("x", "1")))
	if r.report.Orphans != 1 {
		t.Errorf("%d orphans, want 1", r.report.Orphans)
	}
}

func TestWhatMustStayRawExplainsALongPrompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 500)
	r := &run{
		c:     &conversation.Conversation{Turns: []conversation.Turn{{User: said("user", "Please look.")}, {User: said("user", long)}}},
		scale: scale{ratio: 1},
	}
	for _, at := range []struct {
		name               string
		turn, limit        int
		contents           []*genai.Content
		event              string
		alone, unavoidable bool
	}{
		{"a result", 0, 400, []*genai.Content{called("1"), answered(long, "1")}, "result of look", true, true},
		{"question and result", 1, 800, []*genai.Content{called("1"), answered(long, "1")}, "result of look", false, true},
		{"no room for a summary", 0, 550, []*genai.Content{called("1"), answered(long, "1")}, "result of look", false, true},
		{"the question", 1, 400, []*genai.Content{said("user", long)}, `user message "word word word word word word word word …"`, true, true},
		{"an answer before the question", 0, 400, []*genai.Content{said("user", "go"), said("model", long), said("user", "stop")}, `model message "word word word word word word word word …"`, true, true},
		{"a result before the question", 0, 400, []*genai.Content{called("1"), answered(long, "1"), said("user", "stop")}, "result of look", true, true},
		{"something else", 0, 800, []*genai.Content{said("model", long), called("1"), answered("x", "1")}, "result of look", false, false},
	} {
		r.report = &Report{Limit: at.limit}
		got := r.overlong(3, at.turn, 900, request(at.contents...))
		if r.report.Limit = 2; r.overlong(0, at.turn, 900, request()).Event != "the instruction" {
			t.Error("an instruction that fills the window is not named")
		}
		if got.Event != at.event || got.Alone != at.alone || got.Unavoidable != at.unavoidable || got.Call != 3 || got.Turn != at.turn+1 {
			t.Errorf("%s: %+v", at.name, got)
		}
	}
}
