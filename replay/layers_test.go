package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
)

// reading returns a conversation whose one long turn calls a tool so many times, with results of so
// many bytes.
func reading(calls, bytes int) *conversation.Conversation {
	c := &conversation.Conversation{ID: "reading", Instruction: "Read the files."}
	turn := conversation.Turn{User: genai.NewContentFromText("Which file opens the port?", genai.RoleUser)}
	for i := range calls {
		id := fmt.Sprint("call-", i)
		line := fmt.Sprintf("line of file %d\n", i)
		turn.Steps = append(turn.Steps, conversation.Step{
			Answer: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
				{FunctionCall: &genai.FunctionCall{ID: id, Name: "read_file", Args: map[string]any{"path": fmt.Sprint("f", i)}}},
			}},
			Responses: []*genai.FunctionResponse{{ID: id, Name: "read_file", Response: map[string]any{"output": strings.Repeat(line, bytes/len(line))}}},
		})
	}
	turn.Steps = append(turn.Steps, conversation.Step{Answer: genai.NewContentFromText("None does.", genai.RoleModel)})
	c.Turns = []conversation.Turn{turn}
	return c
}

// layered returns policy(window) with the layers, less those that are disabled.
func layered(window int, disabled ...longsession.Layer) replay.Policy {
	p := policy(window)
	p.Layers = &longsession.Config{Disable: disabled}
	p.Name = fmt.Sprint(window, " without ", disabled)
	return p
}

func TestLayersShortenRequestsAndLoseNothing(t *testing.T) {
	t.Parallel()
	c := reading(60, 6_000)
	reports := compare(t, c, policy(32_000), layered(32_000), layered(32_000, longsession.LayerBudget), layered(32_000, longsession.LayerToolResults))
	for i, r := range reports {
		if err := (replay.Checker{}).Check(r); err != nil {
			t.Error(err)
		}
		if i > 0 && r.Layers == nil || i == 0 && r.Layers != nil {
			t.Fatalf("policy %s: layers %v", r.Policy, r.Layers)
		}
	}
	if alone, all := reports[0].With.PromptTokens, reports[1].With.PromptTokens; all > alone*85/100 {
		t.Errorf("%d prompt tokens with all layers, %d with compaction alone", all, alone)
	}
	for _, r := range reports[1:3] {
		if l := r.Layers; l.Shortened != 60 || l.ReadBack != l.Shortened {
			t.Errorf("%s: of 60 long results %d were shortened and %d read back", r.Policy, l.Shortened, l.ReadBack)
		}
	}
	if l := reports[3].Layers; l.Refused > 0 || l.ReadBack != l.Shortened {
		t.Errorf("the budget alone: %+v", l)
	}
}

func TestARequestThatTheBudgetRefusesIsAnsweredAsRecorded(t *testing.T) {
	t.Parallel()
	c := reading(2, 400)
	c.Turns[0].User = genai.NewContentFromText(strings.Repeat("a very long question ", 4_000), genai.RoleUser)
	r := compare(t, c, layered(8_000))[0]
	if r.Layers.Refused == 0 || r.With.ModelCalls != r.Without.ModelCalls || len(r.Over) != r.With.ModelCalls || !r.Over[0].Alone {
		t.Errorf("%d of %d requests refused, %d over the limit", r.Layers.Refused, r.With.ModelCalls, len(r.Over))
	}
}

func TestRealSessionsLoseNothingUnderAllLayers(t *testing.T) {
	t.Parallel()
	if testkit.Race {
		t.Skip("too slow with the race detector; other tests cover this with it")
	}
	windows := []int{8_000, 32_000, 64_000, 128_000}
	// Without what the recording leaves out, as in the table, and then with it.
	var alone, all [4]replay.Total
	var aloneFixed, allFixed, pricedFixed, pricedAllFixed replay.Total
	for _, c := range read(t, "coding_agent_sessions.jsonl") {
		play := func(fixed replay.Fixed, policies ...replay.Policy) []*replay.Report {
			reports, err := replay.Compare(t.Context(), c, policies, replay.Options{Fixed: fixed, Model: price(t)})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range reports {
				if r.Layers == nil {
					continue
				}
				if err := (replay.Checker{}).Check(r); err != nil {
					t.Error(err)
				}
				if r.Layers.ReadBack != r.Layers.Shortened {
					t.Errorf("%s, window %d: %d results shortened, %d read back", c.ID, r.Limit, r.Layers.Shortened, r.Layers.ReadBack)
				}
				if r.With.ModelCalls != r.Without.ModelCalls {
					t.Errorf("%s, window %d: %d model calls, %d recorded", c.ID, r.Limit, r.With.ModelCalls, r.Without.ModelCalls)
				}
				if r.Limit >= 32_000 && len(r.Over) > 0 {
					t.Errorf("%s: %d prompts over a window of %d", c.ID, len(r.Over), r.Limit)
				}
			}
			return reports
		}
		for i, window := range windows {
			reports := play(0, policy(window), layered(window))
			alone[i].Add(reports[0])
			all[i].Add(reports[1])
		}
		for i, r := range play(replay.FixedAuto, policy(32_000), layered(32_000), byPrice(policy(32_000)), byPrice(layered(32_000))) {
			[]*replay.Total{&aloneFixed, &allFixed, &pricedFixed, &pricedAllFixed}[i].Add(r)
		}
	}
	if all[1].Layers.Shortened < 200 {
		t.Errorf("only %d results were shortened", all[1].Layers.Shortened)
	}

	more := func(of, than float64) float64 { return 100 * (of/than - 1) }
	prompts := func(t replay.Total) float64 { return float64(t.With.PromptTokens) }
	withSummaries := func(t replay.Total) int {
		return t.With.PromptTokens + t.Summarizer.PromptTokens + t.Summarizer.OutputTokens
	}
	kept := func(t replay.Total) float64 { return 100 * float64(t.With.CachedTokens) / prompts(t) }
	for i, window := range windows {
		a, b := alone[i], all[i]
		start := fmt.Sprintf("| %d,000 | ", window/1_000)
		testkit.Figures(t, benchmarks, start+"compaction | %d | %d | %.2f | %d | %.1f%% | %d | |",
			a.With.PromptTokens, withSummaries(a), dollars(a), a.Compactions, kept(a), a.Over)
		testkit.Figures(t, benchmarks, start+"all | %d (%+.0f%%) | %d (%+.0f%%) | %.2f (%+.0f%%) | %d | %.1f%% | %d | %d, %d |",
			b.With.PromptTokens, more(prompts(b), prompts(a)),
			withSummaries(b), more(float64(withSummaries(b)), float64(withSummaries(a))),
			dollars(b), more(dollars(b), dollars(a)), b.Compactions, kept(b), b.Over, b.Layers.Shortened, b.Layers.ReadBack)
	}
	testkit.Figures(t, benchmarks, "%.0f%% fewer prompt tokens at 32,000, %.0f%% with summaries, and cost $%.2f instead of $%.2f",
		-more(prompts(allFixed), prompts(aloneFixed)), -more(float64(withSummaries(allFixed)), float64(withSummaries(aloneFixed))),
		dollars(allFixed), dollars(aloneFixed))
	testkit.Figures(t, benchmarks, "With all layers, by price, the coding agents at 32,000 cost $%.2f.", dollars(pricedAllFixed))
	testkit.Figures(t, readme, "| cost of the same sessions, with the provider's prefix cache | $%.2f | $%.2f; with all layers $%.2f |",
		pricedFixed.Without.Dollars, dollars(pricedFixed), dollars(pricedAllFixed))
}
