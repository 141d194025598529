package replay_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// chat returns a conversation with the given number of turns. Each turn calls a tool, and the last
// turn is unanswered.
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
	on.Name, off.Name, off.When = "on", "off", replay.Never
	reports, err := replay.Compare(t.Context(), c, []replay.Policy{on, off}, replay.Options{Model: price, Progress: func(n int) { played += n }})
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
		if mark.Call < 1 || mark.Call < len(r.Calls) && r.Calls[mark.Call].With >= r.Calls[mark.Call].Without-(r.Calls[mark.Call-1].Without-r.Calls[mark.Call-1].With) {
			t.Errorf("the prompts are not shorter from call %d on", mark.Call)
		}
	}
	if whole := r.Without; whole.CachedTokens != whole.PromptTokens-r.Calls[len(r.Calls)-1].Without {
		// Each prompt begins with the previous one, and the first is not cached.
		t.Errorf("%d of %d tokens were in the prompt before, the last has %d", whole.CachedTokens, whole.PromptTokens, r.Calls[len(r.Calls)-1].Without)
	}
	if r.With.CachedTokens >= r.With.PromptTokens-r.Calls[len(r.Calls)-1].With {
		t.Errorf("%d of %d tokens count as cached, as if no summary had changed the prompt", r.With.CachedTokens, r.With.PromptTokens)
	}
	if sent := r.With; sent.Dollars != price.Cost(tokens.Usage{PromptTokens: sent.PromptTokens, CachedTokens: sent.CachedTokens, OutputTokens: sent.OutputTokens}) || sent.Dollars == 0 {
		t.Errorf("%v dollars for %+v", sent.Dollars, sent)
	}
	if bare.With != bare.Without || bare.SavedPercent != 0 || len(bare.Compactions) != 0 {
		t.Errorf("without compaction %+v was sent, %+v was to be", bare.With, bare.Without)
	}

	r.Orphans, r.Hidden = 1, 2
	var total replay.Total
	total.Add(r)
	total.Add(r)
	if total.Orphans != 2 || total.Hidden != 4 || total.Compactions != 2*len(r.Compactions) || total.Events != 2*r.Events {
		t.Errorf("total of two equal reports: %+v", total)
	}
	if total.Conversations != 2 || total.With.PromptTokens != 2*r.With.PromptTokens || total.With.LargestPrompt != r.With.LargestPrompt || total.SavedPercent != r.SavedPercent {
		t.Errorf("total of two equal reports: %+v", total)
	}
}

// An app has a model write its summaries and pays for the tokens that the model reads.
func TestSummariesWithoutAModelAreCharged(t *testing.T) {
	t.Parallel()
	price := tokens.Model{Name: "agent", InputPrice: 1, OutputPrice: 10}
	cheap := tokens.Model{Name: "writer", InputPrice: 0.5, OutputPrice: 5}
	off := policy(100_000)
	off.When = replay.Never
	inner := session.InMemoryService()
	for _, x := range []struct{ summary, paid tokens.Model }{{tokens.Model{}, price}, {cheap, cheap}} {
		on := policy(100_000)
		if x.paid.Name == "writer" {
			on.Service = inner
		}
		reports, err := replay.Compare(t.Context(), chat(20), []replay.Policy{on, off}, replay.Options{Model: price, SummaryModel: x.summary})
		if err != nil {
			t.Fatal(err)
		}
		r, read, wrote := reports[0], 0, 0
		for _, mark := range r.Compactions {
			read, wrote = read+mark.OriginalTokens, wrote+mark.CompactedTokens
		}
		s := r.Summarizer
		if s.Calls != len(r.Compactions) || s.Estimated != s.Calls || s.Calls == 0 {
			t.Errorf("%d calls, %d of them estimated, for %d compactions", s.Calls, s.Estimated, len(r.Compactions))
		}
		if s.PromptTokens < read || s.PromptTokens > 4*read || s.OutputTokens > wrote || s.OutputTokens < wrote/2 {
			t.Errorf("%d tokens in and %d out; the events take %d, the summaries %d", s.PromptTokens, s.OutputTokens, read, wrote)
		}
		if want := x.paid.Cost(tokens.Usage{PromptTokens: s.PromptTokens, OutputTokens: s.OutputTokens}); s.Dollars < 0.999*want || s.Dollars > 1.001*want {
			t.Errorf("$%v for them, want $%v", s.Dollars, want)
		}
		if bare := reports[1].Summarizer; bare != (replay.Summaries{}) {
			t.Errorf("without compaction summaries took %+v", bare)
		}
		var total replay.Total
		if total.Add(r); total.Summarizer != s {
			t.Errorf("total of one report: %+v, want %+v", total.Summarizer, s)
		}
	}
	got, err := inner.Get(t.Context(), &session.GetRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	for ev := range got.Session.Events().All() {
		if m, err := record.From(ev); err != nil || m != nil && m.Usage != (record.Usage{}) {
			t.Errorf("an estimate was stored as a model's usage: %+v, %v", m, err)
		}
	}
}

// Reported usage must not be increased by an estimate.
func TestSummariesOfAModelAreCountedAsItReports(t *testing.T) {
	t.Parallel()
	p := policy(100_000)
	p.Config.Summarizer = reporting{}
	r := compare(t, chat(20), p)[0]
	if s := r.Summarizer; s.Calls != len(r.Compactions) || s.Estimated != 0 || s.PromptTokens != 100*s.Calls || s.OutputTokens != 7*s.Calls {
		t.Errorf("%+v for %d compactions, want what the model reported", s, len(r.Compactions))
	}
}

// reporting is a summarizer that reports usage.
type reporting struct{ summarizer.Extractive }

func (r reporting) Summarize(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
	result, err := r.Extractive.Summarize(ctx, req)
	result.Usage = tokens.Usage{PromptTokens: 100, OutputTokens: 7}
	return result, err
}

// TestWhatAModelKeepsIsReported, and what it invents: the record of each compaction has it.
func TestWhatAModelKeepsIsReported(t *testing.T) {
	t.Parallel()
	p := policy(100_000)
	p.Config.Summarizer = summarizer.Func(func(ctx context.Context, req summarizer.Request) (summarizer.Result, error) {
		result, err := summarizer.Extractive{}.Summarize(ctx, req)
		if err == nil {
			result.Content.Parts[0].Text += "\n- Order A-9999 was refunded."
		}
		result.Model = "writer"
		return result, err
	})
	r := compare(t, chat(20), p)[0]
	sum := 0.
	for _, c := range r.Compactions {
		if c.Kept == nil || *c.Kept <= 0 || c.Invented != 1 || strings.Contains(c.Summary, "A-9999") {
			t.Fatalf("a compaction reports %v kept, %d invented: %s", c.Kept, c.Invented, c.Summary)
		}
		sum += *c.Kept
	}
	n := len(r.Compactions)
	if s := r.Summarizer; n < 2 || s.Measured != n || s.Invented != n || math.Abs(s.Kept-sum/float64(n)) > 1e-9 {
		t.Errorf("%+v for %d compactions that keep %v", s, n, sum)
	}
	var total replay.Total
	total.Add(r)
	total.Add(r)
	if s := total.Summarizer; s.Measured != 2*n || s.Invented != 2*n || math.Abs(s.Kept-sum/float64(n)) > 1e-9 {
		t.Errorf("the total is %+v", s)
	}
	p.Config.Summarizer = summarizer.Extractive{}
	if s := compare(t, chat(20), p)[0].Summarizer; s.Measured != 0 || s.Kept != 0 || s.Invented != 0 {
		t.Errorf("without a model: %+v", s)
	}
}

// Without plausible counts, prompts are counted as if the recording had none.
func TestImplausibleUsageIsNotedAndIgnored(t *testing.T) {
	t.Parallel()
	honest := compare(t, chat(20), policy(4_000))[0]
	for _, lie := range []int{0, 1, 1_000_000} {
		c := chat(20)
		for i := range c.Turns {
			for j := range c.Turns[i].Steps {
				c.Turns[i].Steps[j].PromptTokens, c.Turns[i].Steps[j].OutputTokens = lie, lie
			}
		}
		r := compare(t, c, policy(4_000))[0]
		if r.With != honest.With || r.Without != honest.Without || r.Counts != honest.Counts || len(r.Compactions) != len(honest.Compactions) {
			t.Errorf("an implausible count of %d is used: %+v, without it %+v; counts %+v", lie, r.With, honest.With, r.Counts)
		}
		said := strings.Contains(strings.Join(r.Notes, "\n"), fmt.Sprintf("recorded token counts that cannot be right (such as %d for ", lie))
		if said != (lie > 0) {
			t.Errorf("a count of %d: notes %q", lie, r.Notes)
		}
	}
}

// A call without a recorded response gets one, so no prompt has an unanswered call.
func TestInterruptedToolRoundsArePlayed(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString(`{"id":"cut","messages":[`)
	for i := range 12 {
		fmt.Fprintf(&file, `{"role":"user","content":"Question %d %s"},{"role":"assistant","tool_calls":[{"id":"a%d","function":{"name":"look"}},{"id":"b%d","function":{"name":"look"}}]},`,
			i, strings.Repeat("about the tide ", 20), i, i)
		if i%2 == 0 {
			fmt.Fprintf(&file, `{"role":"tool","tool_call_id":"b%d","content":"high"},{"role":"assistant","content":"High."},`, i)
		}
	}
	file.WriteString(`{"role":"user","content":"Well?"}]}`)
	c, err := conversation.NewReader(strings.NewReader(file.String()), "f").Next()
	if err != nil {
		t.Fatal(err)
	}
	r := compare(t, c, policy(1_500))[0]
	if r.Orphans > 0 || r.Hidden > 0 || len(r.Compactions) == 0 {
		t.Errorf("%d orphans, %d violations, %d compactions: %v", r.Orphans, r.Hidden, len(r.Compactions), r.Problems)
	}
	if want := `calls without a result, given {"error": "the recording has no result for this call"}: 18`; !slices.Contains(r.Notes, want) {
		t.Errorf("notes %q lack %q", r.Notes, want)
	}
}

func TestASessionIsStoredInThePolicysService(t *testing.T) {
	t.Parallel()
	inner := session.InMemoryService()
	p := policy(100_000)
	p.Service = inner
	report, err := replay.Play(t.Context(), chat(10), p, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := inner.Get(t.Context(), &session.GetRequest{AppName: replay.AppName, UserID: replay.UserID, SessionID: "chat"})
	if err != nil || got.Session.Events().Len() != report.Events {
		t.Fatalf("%v; %d events are reported", err, report.Events)
	}
	if _, err := replay.Play(t.Context(), chat(10), p, replay.Options{}); err == nil || !strings.Contains(err.Error(), "create the session") {
		t.Errorf("a session was played into one that exists: %v", err)
	}
}

func TestReplayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	played := 0
	_, err := replay.Play(ctx, chat(50), policy(100_000), replay.Options{Progress: func(n int) {
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
	_, err := replay.Play(t.Context(), chat(2), policy(0), replay.Options{Progress: func(n int) { played += n }})
	if err == nil || !strings.Contains(err.Error(), "set Config.ContextWindow") || played > 0 {
		t.Errorf("%d messages played, then %v", played, err)
	}
}

func TestPromptThatCannotFitIsNamed(t *testing.T) {
	t.Parallel()
	c := chat(12)
	c.Turns[10].User = genai.NewContentFromText(strings.Repeat("a line of a long file; ", 1_000), genai.RoleUser)
	r := compare(t, c, policy(3_000))[0]
	if len(r.Over) == 0 {
		t.Fatalf("no prompt is over the limit: the largest is %d", r.With.LargestPrompt)
	}
	for _, o := range r.Over {
		if !strings.HasPrefix(o.Event, "user message") || !o.Alone || !o.Unavoidable || o.Turn != 11 || o.EventTokens < 3_000 {
			t.Errorf("%+v, want the message of turn 11", o)
		}
	}
}

func TestInterruptedTurnAsksNoMore(t *testing.T) {
	t.Parallel()
	c := chat(6)
	c.Turns[2].Steps = c.Turns[2].Steps[:1]
	r := compare(t, c, policy(100_000))[0]
	if want := 4*2 + 1 + 1; r.With.ModelCalls != want {
		t.Errorf("%d model calls, want %d: two for each of 4 turns, one of the interrupted and one of the unanswered", r.With.ModelCalls, want)
	}
}

func TestRecordedCompactionIsPlayedAgainWithItsSummary(t *testing.T) {
	t.Parallel()
	// The recorded application had 4,000 tokens of instructions and tools in each prompt, and
	// compacted in the middle of a long turn. The earlier turns and the compacted rounds of this
	// turn are shown in two places.
	c := chat(6)
	for range 3 {
		c.Turns[4].Steps = append(chat(6).Turns[4].Steps[:1], c.Turns[4].Steps...)
	}
	for i := range c.Turns[4].Steps[:4] {
		id := fmt.Sprint("again-", i)
		step := &c.Turns[4].Steps[i]
		step.Answer.Parts[1].FunctionCall.ID, step.Responses[0].ID = id, id
	}
	size := 4_000
	for i := range c.Turns[:5] {
		for j := range c.Turns[i].Steps {
			c.Turns[i].Steps[j].PromptTokens = size
			size += 120
		}
	}
	c.Compactions = []conversation.Compaction{{Turn: 4, Step: 4, Trigger: "auto", PromptTokens: size, Summary: "The towns were sunny."}}
	c.Turns[4].Steps[4].PromptTokens = 4_321
	p := policy(6_000)
	p.When = replay.AsRecorded
	r := compare(t, c, p)[0]
	if r.Hidden > 0 || r.Summarizer.Failed > 0 || len(r.Notes) > 0 {
		t.Errorf("%d violations and %d failures: %v, %v", r.Hidden, r.Summarizer.Failed, r.Problems, r.Notes)
	}
	if len(r.Compactions) != 2 || r.Compactions[0].Summary != "The towns were sunny." && r.Compactions[1].Summary != "The towns were sunny." {
		t.Errorf("compactions %+v, want that of the turns before and that of the turn itself", r.Compactions)
	}
	if !r.Counts.Left || r.Counts.Fixed < 3_500 || len(r.Recorded) != 1 {
		t.Fatalf("counts %+v, recorded %+v", r.Counts, r.Recorded)
	}
	at := r.Recorded[0]
	if at.Theirs != 4_321 || at.Before != size || at.Turn != 5 || at.Ours < r.Counts.Fixed || at.Ours > r.Counts.Fixed+1_000 {
		t.Errorf("compared with theirs: %+v; both include the %d tokens that are missing from the recording", at, r.Counts.Fixed)
	}
}

func TestEachRecordedSummaryReplacesThoseBefore(t *testing.T) {
	t.Parallel()
	c := chat(40)
	for i := 5; i < 40; i += 5 {
		c.Compactions = append(c.Compactions, conversation.Compaction{Turn: i, Summary: fmt.Sprintf("Towns 0 to %d were sunny.", i-1)})
	}
	p := policy(100_000)
	p.When = replay.AsRecorded
	r := compare(t, c, p)[0]
	if len(r.Recorded) != 7 || len(r.Compactions) < 7 || r.Hidden > 0 || r.Summarizer.Failed > 0 || len(r.Notes) > 0 {
		t.Fatalf("%d compactions, %d violations, %d failures, notes %q", len(r.Compactions), r.Hidden, r.Summarizer.Failed, r.Notes)
	}
	newest := r.Compactions[len(r.Compactions)-2:] // of the earlier turns, and of the turn that was last
	if !slices.ContainsFunc(newest, func(m replay.Compaction) bool { return m.Summary == "Towns 0 to 34 were sunny." }) {
		t.Errorf("the newest summaries are %+v", newest)
	}
	if first, last := r.Recorded[0].Ours, r.Recorded[6].Ours; last > first*11/10 {
		t.Errorf("after the seventh compaction a prompt has %d tokens, after the first %d: summaries accumulate", last, first)
	}
}

func TestDifferencesFromTheRecordingAreNoted(t *testing.T) {
	t.Parallel()
	c := chat(4)
	c.Turns[1].Steps[1].Answer.Parts = append(c.Turns[1].Steps[1].Answer.Parts, &genai.Part{CodeExecutionResult: &genai.CodeExecutionResult{Output: "1"}})
	c.Turns[2].Steps[0].Responses[0].Parts = []*genai.FunctionResponsePart{{InlineData: &genai.FunctionResponseBlob{MIMEType: "image/png", Data: []byte("x")}}}
	r := compare(t, c, policy(100_000))[0]
	want := []string{"model calls that the recording does not have, because the runner asked again: 1", "pictures and files in tool results, left out: 1"}
	if !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
}
