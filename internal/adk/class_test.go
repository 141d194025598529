package adk_test

import (
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

func event(author string, parts ...*genai.Part) *session.Event {
	ev := &session.Event{Author: author}
	if parts != nil {
		ev.Content = &genai.Content{Parts: parts}
	}
	return ev
}

func TestClassOfAnEvent(t *testing.T) {
	t.Parallel()
	var (
		text     = &genai.Part{Text: "cold"}
		call     = &genai.Part{FunctionCall: &genai.FunctionCall{ID: "c", Name: "weather"}}
		response = &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: "c", Name: "weather"}}
	)
	answer := event("bot", response)
	answer.Actions.SkipSummarization = true
	heard := &session.Event{Author: "bot", LLMResponse: model.LLMResponse{OutputTranscription: &genai.Transcription{Text: "cold"}}}
	state := event("bot")
	state.Actions.StateDelta = map[string]any{"k": 1}
	remote := event("far", text)
	remote.CustomMetadata = map[string]any{"a2a:context_id": "x"}
	lookalike := event("far", text)
	lookalike.CustomMetadata = map[string]any{"a2a_context_id": "x"}
	for name, row := range map[string]struct {
		ev   *session.Event
		want adk.Class
	}{
		"nil":                            {nil, 0},
		"question":                       {event("user", text), adk.ByUser | adk.Speaks | adk.Message},
		"call":                           {event("bot", text, call), adk.ByAgent | adk.Speaks | adk.Calls},
		"response":                       {event("bot", nil, response), adk.ByAgent | adk.Speaks | adk.Responds},
		"response that is the answer":    {answer, adk.ByAgent | adk.Speaks | adk.Responds | adk.EndsTurn},
		"the user's late response":       {event("user", response), adk.ByUser | adk.Speaks | adk.Message | adk.Responds},
		"answer":                         {event("bot", text), adk.ByAgent | adk.Speaks | adk.EndsTurn},
		"answer without an author":       {event("", text), adk.Speaks | adk.EndsTurn},
		"speech":                         {heard, adk.ByAgent | adk.Speaks | adk.EndsTurn},
		"change of state":                {state, adk.ByAgent},
		"content without parts":          {&session.Event{Author: "user", LLMResponse: model.LLMResponse{Content: &genai.Content{}}}, adk.ByUser},
		"remote answer":                  {remote, adk.ByAgent | adk.Speaks | adk.EndsTurn | adk.Remote},
		"metadata that only looks alike": {lookalike, adk.ByAgent | adk.Speaks | adk.EndsTurn},
	} {
		if got := adk.Classify(row.ev); got != row.want {
			t.Errorf("%s: class %08b, want %08b", name, got, row.want)
		}
	}
	if c := adk.Calls | adk.Speaks; !c.Is(adk.Calls) || c.Is(adk.Calls|adk.Responds) || !c.Any(adk.Calls|adk.Responds) || c.Any(adk.Remote) {
		t.Error("Is needs all properties, Any needs one")
	}
}

func TestAgentsSeeTheirOwnBranchAndItsAncestors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reader, event string
		want          bool
	}{
		{"", "p.a", true}, {"p.a", "", true}, {"p.a", "p.a", true}, {"p.a.x", "p.a", true},
		{"p.a", "p.a.x", false}, {"p.a", "p.b", false}, {"p.ab", "p.a", false},
	} {
		if got := adk.Visible(row.reader, row.event); got != row.want {
			t.Errorf("reader %q, event %q: %v", row.reader, row.event, got)
		}
	}
}

func TestTemporaryStateIsLeftOutOfACopy(t *testing.T) {
	t.Parallel()
	ev := event("bot")
	if ev.Actions.StateDelta = map[string]any{"kept": 1, "user:kept": 2}; adk.WithoutTemp(ev) != ev {
		t.Error("an event without temporary keys was copied")
	}
	ev.Actions.StateDelta["temp:gone"] = 3
	kept := adk.WithoutTemp(ev)
	if len(kept.Actions.StateDelta) != 2 || kept.Actions.StateDelta["temp:gone"] != nil {
		t.Errorf("kept %v", kept.Actions.StateDelta)
	}
	if len(ev.Actions.StateDelta) != 3 {
		t.Errorf("the event itself has %v now", ev.Actions.StateDelta)
	}
}
