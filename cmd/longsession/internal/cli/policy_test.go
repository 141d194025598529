package cli

import (
	"testing"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/summarizer"
)

// flagsOf are the flags' values that are the library's defaults.
func flagsOf(who string) policyFlags {
	d := compaction.DefaultConfig()
	return policyFlags{
		summarizer: who, threshold: d.InvocationThreshold, overlap: d.OverlapSize, window: 32_000, ratio: d.SafetyRatio,
		retain: d.RetainEvents, summaries: d.MaxSummaries, summaryTokens: d.MaxSummaryTokens,
	}
}

func TestPolicyOfTheFlagsIsThatOfTheLibrary(t *testing.T) {
	t.Parallel()
	got, err := flagsOf(extractive).build("name", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	want := compaction.DefaultConfig()
	want.ContextWindow = 32_000
	want.Synchronous = true
	want.Summarizer = summarizer.Extractive{}
	if !sameConfig(got.Config, want) || got.When != replay.AsConfigured || got.Name != "name" {
		t.Errorf("got %+v, want %+v", got.Config, want)
	}
}

func TestSummariesAreWrittenByWhomTheFlagNames(t *testing.T) {
	t.Parallel()
	llm := compactiontest.NewModel("gemini-2.5-flash", nil)
	for _, who := range summarizers {
		got, err := flagsOf(who).build("", llm, false)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Config.Model != nil) != (who == geminis) || (got.Config.Summarizer == nil) != (who == geminis) {
			t.Errorf("%s: model %v, summarizer %v", who, got.Config.Model, got.Config.Summarizer)
		}
		if (got.When == replay.Never) != (who == off) || (got.When == replay.AsRecorded) != (who == recorded) {
			t.Errorf("%s compacts when %v", who, got.When)
		}
	}
}

// sameConfig compares what flags can set; a Config holds functions and is not comparable.
func sameConfig(a, b compaction.Config) bool {
	return a.Summarizer == b.Summarizer && a.Model == nil && b.Model == nil &&
		a.InvocationThreshold == b.InvocationThreshold && a.OverlapSize == b.OverlapSize &&
		a.TokenThreshold == b.TokenThreshold && a.SafetyRatio == b.SafetyRatio && a.ContextWindow == b.ContextWindow &&
		a.RetainEvents == b.RetainEvents && a.MaxSummaries == b.MaxSummaries && a.MaxSummaryTokens == b.MaxSummaryTokens &&
		a.Synchronous == b.Synchronous
}
