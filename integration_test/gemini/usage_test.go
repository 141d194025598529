package gemini_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/adk/agent"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// Observations and records have the exact number of tokens that the server charged for summaries,
// including thoughts. Events have the agent's usage.
func TestTheSummarizersUsageIsToldInObservationsOnly(t *testing.T) {
	t.Parallel()
	for _, mode := range []agent.StreamingMode{agent.StreamingModeNone, agent.StreamingModeSSE} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			a := simple(t, nil)
			a.mode = mode
			var charged []tokens.Usage
			a.onUsage = func(r *request, prompt, output int) {
				if r.summary {
					charged = append(charged, tokens.Usage{PromptTokens: prompt, OutputTokens: output})
				}
			}
			a.chatWithTools(24)
			a.checkCharges(charged)
			a.checkAgentUsage()
			a.verify(4)
		})
	}
}

// checkCharges checks that observations and records have the charges of each summary, in order.
func (a *app) checkCharges(charged []tokens.Usage) {
	a.t.Helper()
	stored := a.log.of(compaction.Stored)
	if len(stored) < 4 || len(charged) != len(stored) {
		a.t.Fatalf("%d summaries stored, %d charged for:\n%s", len(stored), len(charged), a.log)
	}
	model, known := tokens.Lookup(assistant)
	if !known || !model.Priced() {
		a.t.Fatalf("%s has no price", assistant)
	}
	for i, o := range stored {
		if o.Usage != charged[i] || o.Cost != model.Cost(charged[i]) || o.Model != assistant {
			a.t.Errorf("observed %+v, %v USD, model %q; want %+v", o.Usage, o.Cost, o.Model, charged[i])
		}
	}
	for i, m := range a.records() {
		if m.Usage.PromptTokens != charged[i].PromptTokens || m.Usage.OutputTokens != charged[i].OutputTokens {
			a.t.Errorf("record %d says %+v, want %+v", i, m.Usage, charged[i])
		}
	}
}

// checkAgentUsage checks that the events have exactly the server's counts for the agent's requests,
// in order.
func (a *app) checkAgentUsage() {
	a.t.Helper()
	var want, got []int
	for _, r := range a.received(false) {
		want = append(want, r.tokens)
	}
	for _, ev := range a.raw() {
		if ev.UsageMetadata != nil {
			got = append(got, int(ev.UsageMetadata.PromptTokenCount))
		}
	}
	if !slices.Equal(got, want) {
		a.t.Errorf("the events bear %v, want %v", got, want)
	}
}

func (a *app) records() []*compaction.CompactionMetadata {
	a.t.Helper()
	var out []*compaction.CompactionMetadata
	for _, ev := range a.raw() {
		m, err := compaction.GetCompactionMetadata(ev)
		if errors.Is(err, compaction.ErrNoRecord) {
			continue
		}
		if err != nil {
			a.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// A far too long answer is sent back to be shortened.
func TestBothCallsForOneSummaryAreCharged(t *testing.T) {
	t.Parallel()
	a := simple(t, nil)
	var charged tokens.Usage
	a.onUsage = func(r *request, prompt, output int) {
		if r.summary {
			charged = charged.Add(tokens.Usage{PromptTokens: prompt, OutputTokens: output})
		}
	}
	a.summarize(func(r *request) reply {
		good := keepFacts(r)
		if !strings.Contains(r.Contents[0].text(), "Shorten it.") {
			good.parts = append(good.parts, object{"text": strings.Repeat(" And so it went on and on.", 500)})
		}
		return good
	})
	a.chat(5)
	stored := a.log.of(compaction.Stored)
	if len(stored) != 1 || len(a.received(true)) != 2 {
		t.Fatalf("%d summaries stored after %d requests, want 1 after 2:\n%s", len(stored), len(a.received(true)), a.log)
	}
	if stored[0].Usage != charged {
		t.Errorf("observed %+v, want %+v", stored[0].Usage, charged)
	}
	a.chat(3)
	a.verify(1)
}

// The server counts every answer, usable or not. Without any candidate, the client does not report
// the cost.
func TestAnUnusableAnswerIsChargedToo(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, f := range failures() {
		if !errors.Is(f.is, summarizer.ErrUnusable) {
			continue
		}
		compared++
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			a := simple(t, nil)
			var charged tokens.Usage
			a.onUsage = func(r *request, prompt, output int) {
				if r.summary {
					charged = tokens.Usage{PromptTokens: prompt, OutputTokens: output}
				}
			}
			a.summarize(func(*request) reply { return f.reply })
			a.chat(5)
			failed := a.log.of(compaction.Failed)
			if len(failed) != 1 || failed[0].Usage != charged || charged == (tokens.Usage{}) {
				t.Errorf("charged %+v:\n%+v", charged, failed)
			}
			a.verify(0)
		})
	}
	if compared < 6 {
		t.Errorf("only %d kinds of unusable answers", compared)
	}
}
