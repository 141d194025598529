package budget

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"

	"github.com/adk-go-ext/longsession/compaction"
)

func TestReportsAreExact(t *testing.T) {
	t.Parallel()
	var tr Tracker
	if got, want := tr.Report(), "Turn 0 | Input: 0, Output: 0 | Avg/turn: 0 | Total: 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tr.Metrics(), "📊 Context Usage:\n   Tokens: 0 / 0 (0.0% used)\n   Latest turn: Turn 0 | Input: 0, Output: 0 | Avg/turn: 0 | Total: 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tr.Line(), "📊 0/0 (0.0%)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 4 {
		tr.Record(500, 300)
	}
	tr.Record(1_200, 850)
	if got, want := tr.Report(), "Turn 5 | Input: 1200, Output: 850 | Avg/turn: 1050 | Total: 5250"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if tr.AverageTurnSize() != 1_050 || tr.Total() != 5_250 {
		t.Errorf("average %d, total %d", tr.AverageTurnSize(), tr.Total())
	}
	tr = Tracker{count: 20, growths: []int{1_000, 3_242}, answer: 500, budget: Budget{Total: 1_008_192, MaxOutputTokens: 8_192, SystemPrompt: 5_000, Conversation: 40_000},
		input: 15_000, output: 6_000, turns: []TurnUsage{{Number: 20, InputTokens: 1_200, OutputTokens: 850, Total: 2_050}}}
	if got, want := tr.Line(), "📊 45K/1M (4.5%) ~450 turns left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	block := "📊 Context Usage:\n   Tokens: 45000 / 1000000 (4.5% used)\n   Latest turn: Turn 20 | Input: 1200, Output: 850 | Avg/turn: 1050 | Total: 21000\n"
	if got, want := tr.Metrics(), block+"   Est. 450 turns remaining"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := tr.Info(); got != (TokenInfo{Used: 45_000, Available: 955_000, PercentUsed: 4.5, TurnsLeft: 450}) {
		t.Errorf("%+v", got)
	}
	for _, r := range []struct {
		triggers     compaction.Triggers
		lines, short string
	}{
		{compaction.Triggers{Tokens: 700_000, Overlap: 1}, "   Compaction threshold: 70%\n   Next summary in about 308 turns", " next summary in about 308 turns"},
		{compaction.Triggers{Tokens: 700_000, ByPrice: true}, "   Compaction threshold: 70%\n   Next summary in about 308 turns at the latest", " next summary in about 308 turns at the latest"},
		{compaction.Triggers{Tokens: 700_000, Invocations: 5}, "   Compaction threshold: 70%\n   Next summary in about 3 turns", " next summary in about 3 turns"},
		{compaction.Triggers{Tokens: 47_000, Invocations: 5}, "   Compaction threshold: 5%\n   Next summary in about 1 turn", " next summary in about 1 turn"},
		{compaction.Triggers{Tokens: 45_000}, "   Compaction threshold: 4%", ""},
		{compaction.Triggers{Overlap: 2}, "   Est. 450 turns remaining", " ~450 turns left"},
	} {
		tr.raw, tr.triggers = 2, func() compaction.Triggers { return r.triggers }
		if got := tr.Metrics(); got != strings.TrimSuffix(block+r.lines, "\n") {
			t.Errorf("%+v: %s", r.triggers, got)
		}
		if got := tr.Line(); got != "📊 45K/1M (4.5%)"+r.short {
			t.Errorf("%+v: %s", r.triggers, got)
		}
	}
	tr.triggers = nil
	// Full and over, there are no turns left, and the line says nothing of them.
	tr.budget.Conversation = 1_200_000
	if got, want := tr.Line(), "📊 1.2M/1M (120.5%)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTokensAreWrittenInShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 999: "999", 1_000: "1K", 1_234: "1.2K", 9_949: "9.9K", 9_960: "10K", 28_800: "28.8K", 45_300: "45.3K", 128_000: "128K", 999_949: "999.9K", 999_950: "1M",
		1_000_000: "1M", 1_048_576: "1M", 1_500_000: "1.5M", 983_040: "983K", 2_000_000: "2M", 12_345_678: "12.3M",
	} {
		if got := short(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

func TestATrackerKeepsTheNewestTurnsAndAllSums(t *testing.T) {
	t.Parallel()
	var tr Tracker
	for i := range maxTurns + 10 {
		tr.Record(i, 1)
	}
	tr.Record(-5, -7)
	turns := tr.Turns()
	if len(turns) != maxTurns || turns[maxTurns-1].Number != maxTurns+11 || turns[0].Number != 12 {
		t.Errorf("%d turns, from %d to %d", len(turns), turns[0].Number, turns[len(turns)-1].Number)
	}
	if last := turns[maxTurns-1]; last.Total != 0 || last.Timestamp.IsZero() {
		t.Errorf("negative numbers count: %+v", last)
	}
	if want := (maxTurns+10)*(maxTurns+9)/2 + maxTurns + 10; tr.Total() != want {
		t.Errorf("total %d, want %d", tr.Total(), want)
	}
}

// countedAnswer answers and counts prompts as the estimate times 1.2.
func countedAnswer(m *Meter, text string, calls bool) func(*model.LLMRequest) *model.LLMResponse {
	return func(req *model.LLMRequest) *model.LLMResponse {
		estimate := m.measure(caller{}, req).estimate()
		resp := &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel), UsageMetadata: &genai.GenerateContentResponseUsageMetadata{
			PromptTokenCount: int32(estimate * 6 / 5), CandidatesTokenCount: 20, ThoughtsTokenCount: 5,
		}}
		if calls {
			resp.Content.Parts = []*genai.Part{{FunctionCall: &genai.FunctionCall{Name: "lookup", Args: map[string]any{"n": 1}}}}
		}
		return resp
	}
}

func TestATurnIsAllModelCallsOfOneInvocation(t *testing.T) {
	t.Parallel()
	log := &journal{}
	m := newMeter(t, Config{ContextWindow: 100_000, MaxOutputTokens: 10_000, Observer: log.Observe}, log)
	inner := &script{t: t, name: "test-model"}
	for _, calls := range []bool{true, true, false, true, false, false} {
		answer := countedAnswer(m, "Done.", calls)
		inner.plan = append(inner.plan, func(req *model.LLMRequest) iter.Seq2[*model.LLMResponse, error] {
			return responses(answer(req))(req)
		})
	}
	tr := m.Tracker(ref) // before the session exists
	if tr.Total() != 0 || tr.TurnsLeft() != 0 || tr.Budget() != (Budget{}) {
		t.Error("the tracker of an unknown session is not zero")
	}
	c := newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "assistant", Model: m.Model(inner), Tools: []tool.Tool{lookup(t, 500, nil)}}))
	for range 3 {
		c.mustAsk("Look it up.")
	}
	turns := tr.Turns()
	if len(turns) != 3 {
		t.Fatalf("%d turns: %+v", len(turns), turns)
	}
	var counted [3]int
	for i, o := range log.of(Sent) {
		counted[[]int{0, 0, 0, 1, 1, 2}[i]] += o.Estimated * 6 / 5
	}
	for i, calls := range []int{3, 2, 1} {
		if turns[i].InputTokens != counted[i] || turns[i].OutputTokens != 25*calls || turns[i].Total != counted[i]+25*calls || turns[i].Number != i+1 {
			t.Errorf("turn %d: %+v, want %d in and %d out", i+1, turns[i], counted[i], 25*calls)
		}
	}
	sent := log.of(Sent)
	if b := tr.Budget(); b.UsedTokens() != sent[5].Estimated*6/5 || b.Total != 100_000 || b.EffectiveWindow() != 90_000 {
		t.Errorf("the budget of the latest request is %+v", b)
	}
	// Three results of about 620 tokens in three turns: the window of 90,000 is good for more than 100 turns.
	if left := tr.TurnsLeft(); left < 90 || left > 200 {
		t.Errorf("%d turns left", left)
	}
	if !strings.HasPrefix(tr.Report(), "Turn 3 | Input: ") || !strings.Contains(tr.Metrics(), "\n   Est. ") || strings.Contains(tr.Metrics(), "Compaction") {
		t.Errorf("%s\n%s", tr.Report(), tr.Metrics())
	}
	if m.Fixed(ref, "assistant", "") == 0 || m.Fixed(compaction.SessionRef{AppName: "app", UserID: "other", SessionID: "new"}, "assistant", "x") == 0 {
		t.Error("the fixed part of the agent's requests is not known")
	}
	if m.Fixed(ref, "nobody", "") != 0 {
		t.Error("an agent that has sent nothing has a fixed part")
	}
}

// The meter resumes a session in the middle: what is already there has not grown in this turn.
func TestAResumedSessionHasNotGrownByItsHistory(t *testing.T) {
	t.Parallel()
	s := newAgentSession(t, Config{ContextWindow: 100_000, MaxOutputTokens: compaction.Off})
	for range 20 {
		s.say(genai.RoleUser, 1_000)
		s.say(genai.RoleModel, 1_000)
	}
	s.say(genai.RoleUser, 1_000)
	s.call(0)
	if left := s.m.Tracker(ref).TurnsLeft(); left < 40 || left > 60 {
		t.Errorf("%d turns left, want about 58,000 tokens of 1,000 each", left)
	}
}

// Each turn adds 100 tokens of the user and 900 of the model. The newest answer has grown the conversation, too, and turns
// of another size that are long past say nothing of the next ones.
func TestTheNewestTurnsTellHowManyAreLeft(t *testing.T) {
	t.Parallel()
	log := &journal{}
	m := newMeter(t, Config{ContextWindow: 100_000, MaxOutputTokens: compaction.Off, Observer: log.Observe}, log)
	inner := &script{t: t, name: "test-model"}
	for i := range 12 {
		answer := strings.Repeat("word ", 900)
		if i < 4 {
			answer = "Yes."
		}
		inner.plan = append(inner.plan, responses(&model.LLMResponse{Content: genai.NewContentFromText(answer, genai.RoleModel)}))
	}
	tr := m.Tracker(ref)
	c := newChat(t, session.InMemoryService(), newAgent(t, llmagent.Config{Name: "assistant", Model: m.Model(inner)}))
	for i := range 12 {
		c.mustAsk(strings.Repeat("word ", 100))
		left := tr.TurnsLeft()
		switch {
		case i == 0 && (left < 800 || left > 1000):
			t.Errorf("after one turn of about 110 tokens %d are left", left)
		case i >= 9:
			free := tr.Budget().RemainingTokens() - 900
			if want := free / 1010; left < want-2 || left > want+2 {
				t.Errorf("turn %d: %d turns of about 1,010 tokens are left in %d", i+1, left, free)
			}
		}
	}
}

func TestManySessionsAreBounded(t *testing.T) {
	t.Parallel()
	m := newMeter(t, Config{})
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Hello.", genai.RoleUser)}}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range maxSessions / 2 {
				who := caller{ref: compaction.SessionRef{AppName: "app", UserID: fmt.Sprint(worker), SessionID: fmt.Sprint(i)}, agent: fmt.Sprint(i), model: fmt.Sprint(i)}
				got := m.measure(who, req)
				m.sent(t.Context(), who, got, 0)
				m.reported(t.Context(), who, got, answer{})
				m.Tracker(who.ref).Report()
				m.Fixed(who.ref, who.agent, who.branch)
			}
		})
	}
	wg.Wait()
	if m.callers.Len() > maxCallers || m.trackers.Len() > maxSessions || m.agents.Len() > maxAgents || m.windows.Len() > maxModels || m.warned.Len() > maxModels {
		t.Errorf("%d callers, %d trackers, %d agents, %d models", m.callers.Len(), m.trackers.Len(), m.agents.Len(), m.windows.Len())
	}
}
