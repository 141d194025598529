package adk

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
)

// These are what adk-python, its service for Vertex AI and ADK Go v2.3 write of a compaction.
const (
	pythonActions = `{"skip_summarization":null,"state_delta":{},"compaction":{"start_timestamp":1767225600.25,"end_timestamp":1767225720.5,` +
		`"compacted_content":{"role":"model","parts":[{"text":"They talked about codes."}]}}}`
	goActions = `{"stateDelta":{},"artifactDelta":{},"compaction":{"startTimestamp":"2026-01-01T00:00:00.25Z","endTimestamp":"2026-01-01T00:02:00.5Z",` +
		`"compactedContent":{"role":"model","parts":[{"text":"They talked about codes."}]},"excludedEvents":[{"invocationId":"i2","timestamp":"2026-01-01T00:01:00Z"}]}}`
)

func TestARecordOfADKsCompactionIsKnownByItsJSON(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		actions string
		want    bool
	}{
		"adk-python":             {pythonActions, true},
		"ADK Go v2.3":            {goActions, true},
		"none":                   {`{"stateDelta":{},"artifactDelta":{}}`, false},
		"null, as older rows":    {`{"state_delta":{},"compaction":null}`, false},
		"a state of that name":   {`{"state_delta":{"compaction":{"compacted_content":{}}}}`, false},
		"something of the app's": {`{"compaction":"weekly"}`, false},
		"no JSON":                {`"compaction"`, false},
		"nothing":                {``, false},
	} {
		ev := &session.Event{Author: "user"}
		if KeepCompaction(ev, []byte(row.actions)); IsCompaction(ev) != row.want || (ev.CustomMetadata != nil) != row.want {
			t.Errorf("%s: %v, metadata %v", name, IsCompaction(ev), ev.CustomMetadata)
		}
	}
}

func TestWhatIsNoRecordOfADKsCompaction(t *testing.T) {
	t.Parallel()
	spoken := &session.Event{Author: "user", LLMResponse: model.LLMResponse{Content: genai.NewContentFromText("Hello!", genai.RoleUser)}}
	KeepCompaction(spoken, []byte(pythonActions))
	for name, ev := range map[string]*session.Event{
		"nil":                          nil,
		"an event without content":     {Author: "user"},
		"the app's own key":            {LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{compactionKey: true}}},
		"a record of ours":             {LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"_adk_compaction": map[string]any{}}}},
		"a message with such metadata": spoken,
	} {
		if IsCompaction(ev) {
			t.Errorf("%s is taken for one", name)
		}
	}
}

// The actions of ADK Go v2.3, which this module cannot be built with yet.
type v23Actions struct {
	StateDelta map[string]any `json:"stateDelta"`
	Compaction *struct {
		StartTimestamp   time.Time      `json:"startTimestamp"`
		EndTimestamp     time.Time      `json:"endTimestamp"`
		CompactedContent *genai.Content `json:"compactedContent"`
	} `json:"compaction,omitempty"`
}

func TestTheFieldOfLaterVersionsIsFoundOnce(t *testing.T) {
	t.Parallel()
	field := fieldOf(reflect.TypeFor[v23Actions]())
	if field != 1 {
		t.Fatalf("the field is %d", field)
	}
	actions := v23Actions{StateDelta: map[string]any{"k": 1}}
	if holds(&actions, field) {
		t.Error("an event without a record has one")
	}
	if actions.Compaction = new(struct {
		StartTimestamp   time.Time      `json:"startTimestamp"`
		EndTimestamp     time.Time      `json:"endTimestamp"`
		CompactedContent *genai.Content `json:"compactedContent"`
	}); !holds(&actions, field) {
		t.Error("a record is not found")
	}
	if got := fieldOf(reflect.TypeFor[struct{ Escalate bool }]()); got != -1 {
		t.Errorf("actions without the field have it at %d", got)
	}
}

// Every append asks.
func TestAskingForARecordOfADKsCompactionAllocatesNothing(t *testing.T) {
	ev := &session.Event{Author: "user", LLMResponse: model.LLMResponse{CustomMetadata: map[string]any{"k": 1}}}
	if n := testing.AllocsPerRun(100, func() { IsCompaction(ev) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
