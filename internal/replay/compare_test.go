package replay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/conversation"
	"github.com/adk-go-ext/longsession/internal/replay"
	"github.com/adk-go-ext/longsession/tokens"
)

// chat is a conversation of as many turns, each with a call of a tool; the last is not answered.
func chat(turns int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "chat", File: "chat.jsonl", Line: 1, Instruction: "Answer {kindly}."}
	for i := range turns {
		id := fmt.Sprint("call-", i)
		turn := conversation.Turn{User: genai.NewContentFromText(fmt.Sprintf("Question %d: how is the weather in town %d?", i, i), genai.RoleUser)}
		call := &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
			{Text: "Let me look."},
			{FunctionCall: &genai.FunctionCall{ID: id, Name: "weather", Args: map[string]any{"town": i}}},
		}}
		result := fmt.Sprintf("Town %d: %s", i, strings.Repeat("sunny, then cloudy, ", 20))
		turn.Steps = []conversation.Step{
			{Answer: call, Responses: []*genai.FunctionResponse{{ID: id, Name: "weather", Response: map[string]any{"result": result}}}},
			{Answer: genai.NewContentFromText("Sunny at first.", genai.RoleModel)},
		}
		c.Turns = append(c.Turns, turn)
	}
	c.Turns[turns-1].Steps = nil
	return c
}

func TestReportAddsUp(t *testing.T) {
	t.Parallel()
	c, played := chat(20), 0
	price := tokens.Model{Name: "test", InputPrice: 1, CachedInputPrice: 0.1, OutputPrice: 10}
	on, off := policy(100_000), policy(100_000)
	on.Name, off.Name, off.Off = "on", "off", true
	reports, err := replay.Compare(t.Context(), c, replay.Options{Policies: []replay.Policy{on, off}, Model: price, Progress: func(n int) { played += n }})
	if err != nil {
		t.Fatal(err)
	}
	r, bare := reports[0], reports[1]
	if r.Policy != "on" || r.ID != "chat" || r.Turns != 20 || r.Messages != c.Messages() || played != 3*c.Messages() {
		t.Errorf("report of %q under %q: %d turns, %d messages, %d played", r.ID, r.Policy, r.Turns, r.Messages, played)
	}
	if calls := 2*19 + 1; r.With.ModelCalls != calls || r.Without.ModelCalls != calls || len(r.Calls) != calls {
		t.Errorf("%d and %d model calls, %d in the curve; want %d", r.With.ModelCalls, r.Without.ModelCalls, len(r.Calls), calls)
	}
	if len(r.Compactions) == 0 || r.SavedPercent <= 0 || r.With.PromptTokens >= r.Without.PromptTokens || r.With.LargestPrompt >= r.Without.LargestPrompt {
		t.Errorf("nothing saved: %+v", r)
	}
	if want := r.Messages + len(r.Compactions) + 1; r.Events != want { // one answer was made up
		t.Errorf("%d events stored, want %d", r.Events, want)
	}
	without, with := 0, 0
	for _, call := range r.Calls {
		without, with = without+call.Without, with+call.With
	}
	if without != r.Without.PromptTokens || with != r.With.PromptTokens {
		t.Errorf("the curve adds up to %d and %d, want %d and %d", without, with, r.Without.PromptTokens, r.With.PromptTokens)
	}
	for _, mark := range r.Compactions {
		if mark.Summary == "" || mark.Kind != "summary" || mark.OriginalTokens <= mark.CompactedTokens || mark.Call > len(r.Calls) || mark.Turn < 1 {
			t.Errorf("compaction %+v", mark)
		}
	}
	if sent := r.With; sent.Dollars != price.Cost(tokens.Usage{PromptTokens: sent.PromptTokens, CachedTokens: sent.CachedTokens, OutputTokens: sent.OutputTokens}) || sent.Dollars == 0 {
		t.Errorf("%v dollars for %+v", sent.Dollars, sent)
	}
	if bare.With != bare.Without || bare.SavedPercent != 0 || len(bare.Compactions) != 0 {
		t.Errorf("without compaction %+v was sent, %+v was to be", bare.With, bare.Without)
	}

	var total replay.Total
	total.Add(r)
	total.Add(r)
	if total.Conversations != 2 || total.With.PromptTokens != 2*r.With.PromptTokens || total.With.LargestPrompt != r.With.LargestPrompt || total.SavedPercent != r.SavedPercent {
		t.Errorf("total of two equal reports: %+v", total)
	}
}

func TestSessionIsStoredWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	opts := replay.Options{Policies: []replay.Policy{policy(100_000)}, Store: func(int) session.Service { return inner }}
	reports, err := replay.Compare(t.Context(), chat(10), opts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inner.Get(t.Context(), &session.GetRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: "chat"})
	if err != nil || got.Session.Events().Len() != reports[0].Events {
		t.Fatalf("%v; %d events are reported", err, reports[0].Events)
	}
	if _, err := replay.Compare(t.Context(), chat(10), opts); err == nil || !strings.Contains(err.Error(), "create the session") {
		t.Errorf("the session was played over one that is there: %v", err)
	}
}

func TestReplayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	played := 0
	_, err := replay.Compare(ctx, chat(50), replay.Options{Policies: []replay.Policy{policy(100_000)}, Progress: func(n int) {
		if played += n; played > 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || played > 30 {
		t.Errorf("%d messages played, then %v", played, err)
	}
}

func TestPolicyWithoutAWindowIsRefused(t *testing.T) {
	t.Parallel()
	played := 0
	_, err := replay.Compare(t.Context(), chat(2), replay.Options{Policies: []replay.Policy{policy(0)}, Progress: func(n int) { played += n }})
	if err == nil || !strings.Contains(err.Error(), "set Config.ContextWindow") || played > 0 {
		t.Errorf("%d messages played, then %v", played, err)
	}
}

func TestPromptThatCannotFitIsNamed(t *testing.T) {
	t.Parallel()
	c := chat(12)
	c.Turns[10].Steps[0].Responses[0].Response["result"] = strings.Repeat("a line of a long file; ", 1_000)
	r := compare(t, c, policy(3_000))[0]
	if len(r.Over) == 0 {
		t.Fatalf("no prompt is over the limit: the largest is %d", r.With.LargestPrompt)
	}
	for _, o := range r.Over {
		if o.Event != "result of weather" || !o.Alone || !o.Unavoidable || o.Turn != 11 || o.EventTokens < 3_000 {
			t.Errorf("%+v, want the result in turn 11", o)
		}
	}
}
