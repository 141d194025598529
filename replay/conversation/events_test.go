package conversation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// event returns an event of an author. Unlike the events of compactiontest.History, it has no ID
// and no time, so that it equals the same event read from JSON.
func event(author string, parts ...*genai.Part) *session.Event {
	role := genai.RoleModel
	if author == "user" {
		role = genai.RoleUser
	}
	return &session.Event{Author: author, LLMResponse: model.LLMResponse{Content: &genai.Content{Role: role, Parts: parts}}}
}

func text(s string) *genai.Part { return &genai.Part{Text: s} }

func calling(id, name string) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: map[string]any{"x": 1.0}}}
}

func giving(id, name, result string) *genai.Part {
	return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{"result": result}}}
}

// adkSession returns a session with every kind of event that ADK stores.
func adkSession() []*session.Event {
	answer := event("writer", text("done"))
	answer.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 90, CandidatesTokenCount: 5, ThoughtsTokenCount: 2}
	answer.ModelVersion = "gemini-x"
	answer.Timestamp = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	partial := event("writer", text("do"))
	partial.Partial = true
	compacted := &session.Event{Author: "user"}
	compacted.CustomMetadata = map[string]any{record.Key: map[string]any{"version": 1.0}}
	speech := &session.Event{Author: "user"}
	speech.InputTranscription = &genai.Transcription{Text: "hm"}
	return []*session.Event{
		event("user", text("go")),
		event("root", &genai.Part{Text: "let me", Thought: true}, calling("c1", "danger"), calling("c2", "look")),
		event("root", giving("c1", "danger", "needs confirmation"), giving("c2", "look", "seen")),
		event("root", calling("c3", "adk_request_confirmation")),
		{Author: "root", Actions: session.EventActions{StateDelta: map[string]any{"k": 1.0}}},
		event("user", giving("c3", "adk_request_confirmation", "yes")),
		event("root", giving("c1", "danger", "ok")),
		compacted,
		speech,
		partial,
		answer,
	}
}

func TestASessionIsTheSameInEveryForm(t *testing.T) {
	t.Parallel()
	events := adkSession()
	direct, err := conversation.FromEvents("s", events)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, direct)
	want := lines("U go", `A1 (let me) | c1=danger{"x":1} | c2=look{"x":1}`, `R c1 danger {"result":"ok"}`, `R c2 look {"result":"seen"}`, "A10 done")
	if got := told(direct); got != want {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
	last := direct.Turns[0].Steps[1]
	if direct.Model != "gemini-x" || last.PromptTokens != 90 || last.OutputTokens != 7 || !last.Time.Equal(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)) {
		t.Errorf("model %q, last answer %+v", direct.Model, last)
	}
	notes := []string{"calls and responses by which ADK itself asked the user, left out: 2", "compaction records, left out: 1",
		"events that are only a transcription of speech, left out: 1", "results left out because a later one answers the same call: 1"}
	if !reflect.DeepEqual(direct.Notes, notes) {
		t.Errorf("notes %q, want %q", direct.Notes, notes)
	}

	golang := compact(events)
	camel := strings.NewReplacer(`"Author"`, `"author"`, `"Content"`, `"content"`, `"CustomMetadata"`, `"customMetadata"`, `"UsageMetadata"`, `"usageMetadata"`,
		`"Timestamp"`, `"timestamp"`, `"ModelVersion"`, `"modelVersion"`, `"Partial"`, `"partial"`, `"InputTranscription"`, `"inputTranscription"`).Replace(golang)
	snake := strings.NewReplacer(`"customMetadata"`, `"custom_metadata"`, `"usageMetadata"`, `"usage_metadata"`, `"modelVersion"`, `"model_version"`, `"inputTranscription"`, `"input_transcription"`,
		`"functionCall"`, `"function_call"`, `"functionResponse"`, `"function_response"`, `"promptTokenCount"`, `"prompt_token_count"`, `"candidatesTokenCount"`, `"candidates_token_count"`,
		`"thoughtsTokenCount"`, `"thoughts_token_count"`, `"2026-01-02T03:04:05.000006Z"`, "1767323045.000006").Replace(camel)
	if adk.Major == 1 && golang == camel || camel == snake || !strings.Contains(snake, "1767323045.000006") {
		t.Fatal("the forms do not differ")
	}
	var exported []string
	for _, ev := range events {
		exported = append(exported, compact(ev))
	}
	for form, file := range map[string]string{
		"an object of Go's": `{"id":"s","events":` + golang + `}`, "camelCase": `{"id":"s","appName":"a","events":` + camel + `}`,
		"snake_case": `{"id":"s","app_name":"a","events":` + snake + `}`, "a list": golang, "lines": strings.Join(exported, "\n"),
	} {
		all, errs := readAll(file)
		if len(all) != 1 || len(errs) > 0 {
			t.Errorf("%s: %d conversations, %v", form, len(all), errs)
			continue
		}
		c := all[0]
		wantID := map[string]string{"a list": "f:1", "lines": "f"}[form]
		if wantID == "" {
			wantID = "s"
		}
		if c.ID != wantID || c.File != "f" || c.Line != 1 {
			t.Errorf("%s: %s from %s:%d", form, c.ID, c.File, c.Line)
		}
		c.ID, c.File, c.Line = direct.ID, "", 0
		if diff := cmp.Diff(direct, c); diff != "" {
			t.Errorf("%s differs from the events themselves:\n%s", form, diff)
		}
	}
}

func TestTheDocumentedSessionIsRead(t *testing.T) {
	t.Parallel()
	c := one(t, `{"id": "c", "appName": "app", "userId": "u", "events": [
		{"author": "user", "content": {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]}},
		{"author": "bot", "content": {"role": "model", "parts": [{"text": "Yes."}]},
		"timestamp": 1767222000.5, "usageMetadata": {"promptTokenCount": 80, "candidatesTokenCount": 2}}]}`)
	s := c.Turns[0].Steps[0]
	if c.ID != "c" || told(c) != lines("U Is it cold in Oslo?", "A1 Yes.") || s.PromptTokens != 80 || s.OutputTokens != 2 || s.Time.UnixMilli() != 1767222000500 {
		t.Errorf("%s is read as\n%s\n%+v", c.ID, told(c), s)
	}
}

func TestFromEventsSharesNothing(t *testing.T) {
	t.Parallel()
	events := []*session.Event{event("user", text("go")), nil, event("a", calling("", "f"), calling("x", "f")), event("a", giving("x", "f", "1"))}
	before := adk.DeepCopy(events)
	c, err := conversation.FromEvents("s", events)
	if err != nil {
		t.Fatal(err)
	}
	if c.Turns[0].Steps[0].Answer.Parts[0].FunctionCall.ID != "call-1" {
		t.Errorf("no ID was made up: %s", told(c))
	}
	c.Turns[0].User.Parts[0].Text = "changed"
	c.Turns[0].Steps[0].Answer.Parts[1].FunctionCall.Args["x"] = "changed"
	c.Turns[0].Steps[0].Responses[1].Response["result"] = "changed"
	if diff := cmp.Diff(before, events); diff != "" {
		t.Errorf("the events changed:\n%s", diff)
	}
}

func TestFromEventsNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		events []*session.Event
		want   string
	}{
		{nil, "conversation s: no message of a user or an agent; expected at least one"},
		{[]*session.Event{event("user", text("go")), event("a", giving("x", "f", "1"))}, `conversation s, message 1: a result for tool_call_id "x" (name "f"), which no message before it calls; expected the call first`},
		{[]*session.Event{event("user", calling("x", "f"))}, `conversation s, message 0: the user calls the function "f"; expected calls in the model's messages`},
	} {
		_, err := conversation.FromEvents("s", x.events)
		var e *conversation.Error
		if !errors.As(err, &e) || err.Error() != x.want {
			t.Errorf("got %v, want %s", err, x.want)
		}
	}
}

func TestAnEventWithoutAnAuthorIsWhoseRoleItHas(t *testing.T) {
	t.Parallel()
	c := one(t, `{"events":[{"invocationId":"i","content":{"role":"user","parts":[{"text":"hello"}]}},{"content":{"role":"model","parts":[{"text":"hi"}]}}]}`)
	if got, want := told(c), lines("U hello", "A1 hi"); got != want {
		t.Errorf("read as\n%s\nwant\n%s", got, want)
	}
}

// says returns an event on its own line.
func says(session, author, words string) string {
	ev := map[string]any{"author": author, "content": map[string]any{"parts": []any{map[string]any{"text": words}}}}
	if session != "" {
		ev["sessionId"] = session
	}
	line, err := json.Marshal(ev)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

func TestEventLinesAreConversations(t *testing.T) {
	t.Parallel()
	file := lines(says("", "user", "one"), says("", "bot", "two"), "", messages(hello, hi),
		says("s1", "user", "three"), says("", "bot", "four"), says("s2", "user", "five"), says("s2", "bot", "six"))
	all, errs := readAll(file)
	var got []string
	for _, c := range all {
		wellFormed(t, c)
		got = append(got, fmt.Sprintf("%s:%d %s", c.ID, c.Line, strings.ReplaceAll(told(c), "\n", " ")))
	}
	want := []string{"f:1 U one A1 two", "f:4:4 U hello A1 hi", "s1:5 U three A1 four", "s2:7 U five A1 six"}
	if !reflect.DeepEqual(got, want) || len(errs) > 0 {
		t.Errorf("read %q, %v; want %q", got, errs, want)
	}
}

func TestABrokenEventLineLosesItsConversationAlone(t *testing.T) {
	t.Parallel()
	for what, broken := range map[string]string{
		"no JSON": `{"author":`, "wrong kind": `{"author":"bot","content":{"parts":[{"text":7}]}}`, "session of a wrong kind": `{"author":"bot","sessionId":[]}`,
	} {
		all, errs := readAll(lines(says("s1", "user", "one"), broken, says("s1", "bot", "two"), says("", "bot", "three"), says("s2", "user", "four"), says("s2", "bot", "five")))
		if len(all) != 1 || all[0].ID != "s2" || told(all[0]) != lines("U four", "A1 five") {
			t.Errorf("%s: read %d conversations: %+v", what, len(all), all)
		}
		var e *conversation.Error
		if len(errs) != 1 || !errors.As(errs[0], &e) || e.Line != 2 || e.Message != 1 || e.Conversation != "s1" || e.Column == 0 {
			t.Errorf("%s: errors %v, want one for line 2, message 1 of s1", what, errs)
		}
	}
}

func TestEventLinesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	var file []string
	for range 100 {
		file = append(file, says("long", "user", strings.Repeat("x", 50)))
	}
	file = append(file, says("short", "user", "hello"))
	r := conversation.NewReader(strings.NewReader(lines(file...)), "f")
	r.MaxLine = 1000
	_, err := r.Next()
	if err == nil || !strings.Contains(err.Error(), "conversation long") || !strings.Contains(err.Error(), "longer than 1000 bytes") {
		t.Errorf("got %v, want an error about the length of long", err)
	}
	if c, err := r.Next(); err != nil || c.ID != "short" {
		t.Errorf("then %v, %v; want the short one", c, err)
	}
}

// A session that was stored with compaction has counts of short prompts. If they counted for the
// whole history, compaction would seem to save no tokens.
func TestCountsFromBehindACompactionAreNotTakenForThoseOfTheWholeHistory(t *testing.T) {
	t.Parallel()
	answer := func(prompt int32) *session.Event {
		ev := event("helper", text("fine"))
		ev.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: prompt, CandidatesTokenCount: 7}
		return ev
	}
	compaction := &session.Event{ID: "r", Author: "compaction"}
	m := &record.Metadata{RecordID: "r", Kind: record.KindSummary, Absorbed: []string{"a"}, Trigger: record.TriggerMerge}
	if err := m.SetText("They greeted."); err != nil {
		t.Fatal(err)
	}
	record.Set(compaction, m)
	c, err := conversation.FromEvents("s", []*session.Event{
		event("user", text("one")), answer(900), compaction, event("user", text("two")), answer(300),
	})
	if err != nil {
		t.Fatal(err)
	}
	before, after := c.Turns[0].Steps[0], c.Turns[1].Steps[0]
	if before.PromptTokens != 900 || after.PromptTokens != 0 || after.OutputTokens != 7 {
		t.Errorf("prompts of %d and %d tokens, an answer of %d; want 900, none known, 7", before.PromptTokens, after.PromptTokens, after.OutputTokens)
	}
}

// adk-python and ADK Go v2.3 keep a record of their own compaction in the actions. Its event has no content, and the
// prompts behind it were shorter than the history.
func TestARecordOfADKsOwnCompactionEndsTheCountsOfPrompts(t *testing.T) {
	t.Parallel()
	const say = `{"author":"user","content":{"parts":[{"text":"hi"}]}},{"author":"bot","content":{"parts":[{"text":"yes"}]},"usageMetadata":{"promptTokenCount":80}}`
	for name, actions := range map[string]string{
		"adk-python": `{"state_delta":{},"compaction":{"start_timestamp":1.5,"end_timestamp":2.5,"compacted_content":{"role":"model","parts":[{"text":"So far."}]}}}`,
		"Go":         `{"stateDelta":{},"compaction":{"startTimestamp":"2026-01-01T00:00:00Z","endTimestamp":"2026-01-01T00:00:00Z","compactedContent":{"parts":[{"text":"So far."}]}}}`,
	} {
		c := one(t, `{"id":"x","events":[`+say+`,{"author":"user","actions":`+actions+`},`+say+`]}`)
		var prompts []int
		for _, turn := range c.Turns {
			for _, step := range turn.Steps {
				prompts = append(prompts, step.PromptTokens)
			}
		}
		if !slices.Equal(prompts, []int{80, 0}) || !slices.Contains(c.Notes, "records of ADK's own compaction, left out: 1") {
			t.Errorf("%s: prompts %v, notes %q", name, prompts, c.Notes)
		}
	}
}
