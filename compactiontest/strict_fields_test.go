package compactiontest_test

import (
	"reflect"
	"slices"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool/toolconfirmation"

	ct "github.com/adk-go-ext/longsession/compactiontest"
)

func TestStrictPassesValuesThroughJSON(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.KeepTypes = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		values := func() map[string]any { return map[string]any{"n": 7, "list": []string{"a"}} }
		ev := (&ct.History{}).Call("i", "bot", "t", "c").Last()
		ev.CustomMetadata, ev.Actions.StateDelta, ev.Content.Parts[0].FunctionCall.Args = values(), values(), values()
		storeIn(t, svc, createIn(t, svc), ev)
		want := values()
		if bad {
			want = map[string]any{"n": 7.0, "list": []any{"a"}}
		}
		sess := getFrom(t, svc)
		got := listOf(sess)[0]
		state := map[string]any{}
		for key, value := range sess.State().All() {
			state[key] = value
		}
		for name, found := range map[string]map[string]any{
			"metadata": got.CustomMetadata, "delta": got.Actions.StateDelta, "arguments": got.Content.Parts[0].FunctionCall.Args, "state": state,
		} {
			if !reflect.DeepEqual(found, want) {
				t.Errorf("%s: %#v, want %#v", name, found, want)
			}
		}
		if !reflect.DeepEqual(ev.CustomMetadata, values()) {
			t.Error("the caller's event was changed")
		}
	})
}

func TestStrictLosesWhatVertexLoses(t *testing.T) {
	t.Parallel()
	eitherWay(t, func(o *ct.StrictOptions) { o.KeepFields = false }, func(t *testing.T, bad bool, svc *ct.StrictService) {
		ev := &session.Event{ID: "e1", Author: "bot", LongRunningToolIDs: []string{"c"}, LLMResponse: model.LLMResponse{
			Content:             &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{Text: "text"}, genai.NewPartFromURI("gs://file", "text/plain")}},
			UsageMetadata:       &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 5},
			CitationMetadata:    &genai.CitationMetadata{},
			OutputTranscription: &genai.Transcription{Text: "spoken"},
			CustomMetadata:      map[string]any{"key": "value"},
		}}
		ev.Actions = session.EventActions{
			StateDelta: map[string]any{"k": "v"}, TransferToAgent: "other", Escalate: true, SkipSummarization: true,
			RequestedToolConfirmations: map[string]toolconfirmation.ToolConfirmation{"c": {}},
		}
		storeIn(t, svc, createIn(t, svc), ev)
		got := listOf(getFrom(t, svc))[0]
		lost := []bool{
			got.UsageMetadata == nil, got.CitationMetadata == nil, got.OutputTranscription == nil, len(got.Content.Parts) == 1,
			got.Actions.TransferToAgent == "", !got.Actions.Escalate, !got.Actions.SkipSummarization, got.Actions.RequestedToolConfirmations == nil,
		}
		if slices.Contains(lost, !bad) {
			t.Errorf("lost: %v, want all %t", lost, bad)
		}
		if got.Content.Parts[0].Text != "text" || got.CustomMetadata["key"] != "value" || got.Actions.StateDelta["k"] != "v" || len(got.LongRunningToolIDs) != 1 {
			t.Errorf("Vertex AI keeps this, but the service lost it: %+v", got)
		}
		if len(ev.Content.Parts) != 2 || ev.UsageMetadata == nil {
			t.Error("the caller's event was changed")
		}
	})
}
