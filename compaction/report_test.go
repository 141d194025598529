package compaction_test

import (
	"fmt"
	"math"
	"testing"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
)

// misreporting is a turn of tool rounds whose provider makes something else of the true count.
func misreporting(t *testing.T, cfg compaction.Config, rounds int, report func(round, prompt int) *genai.GenerateContentResponseUsageMetadata) *loop {
	t.Helper()
	l := newLoop(t, newService(t, session.InMemoryService(), cfg), exact)
	for i := range rounds {
		l.rounds++
		prompt := exact.prompt(eventsOf(l.sess))
		l.largest = max(l.largest, prompt)
		id := fmt.Sprint("call", l.rounds)
		l.history.Call("inv", "agent", "lookup", id).Last().UsageMetadata = report(i, prompt)
		l.append()
		l.history.Response("inv", "agent", "lookup", words(300), id)
		l.append()
	}
	return l
}

// A provider that reports too little must switch off neither the trigger nor the hard limit.
func TestNoPromptExceedsTheWindowWhereTheProviderReportsTooLittle(t *testing.T) {
	t.Parallel()
	type usage = genai.GenerateContentResponseUsageMetadata
	for name, report := range map[string]func(round, prompt int) *usage{
		"one": func(int, int) *usage { return &usage{PromptTokenCount: 1, CandidatesTokenCount: 5} },
		"without cached part": func(_, prompt int) *usage {
			return &usage{PromptTokenCount: int32(prompt / 10), CandidatesTokenCount: 5}
		},
		"half": func(_, prompt int) *usage {
			return &usage{PromptTokenCount: int32(prompt / 2), CandidatesTokenCount: 5}
		},
		"cached part elsewhere": func(_, prompt int) *usage {
			return &usage{PromptTokenCount: int32(prompt / 10), CachedContentTokenCount: int32(prompt - prompt/10)}
		},
		"true once, then one": func(round, prompt int) *usage {
			if round == 0 {
				return &usage{PromptTokenCount: int32(prompt), CandidatesTokenCount: 5}
			}
			return &usage{PromptTokenCount: 1, CandidatesTokenCount: 5}
		},
		"negative cache": func(int, int) *usage { return &usage{PromptTokenCount: 1, CachedContentTokenCount: -5} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer, cfg.Summarizer = compaction.Off, 8_000, seen.Observe, &terse{}
			l := misreporting(t, cfg, 250, report)
			if l.largest > cfg.ContextWindow {
				t.Errorf("a prompt of %d tokens went out, the window is %d", l.largest, cfg.ContextWindow)
			}
			if got := seen.of(compaction.Misreported); len(got) > 0 {
				t.Errorf("%d times said to report too much: %+v", len(got), got[0])
			}
			checkView(t, l.svc)
		})
	}
}

// A provider that reports what no compaction could change is told of once, and then the estimate is
// followed: as many compactions as without any report, and no look in vain for every event.
func TestAProviderThatCountsTooMuchIsReportedOnce(t *testing.T) {
	t.Parallel()
	type usage = genai.GenerateContentResponseUsageMetadata
	var j journal
	play := func(report func(round, prompt int) *usage) (*loop, *notes, *terse) {
		seen, writer := &notes{}, &terse{}
		cfg, _ := oracleConfig()
		cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer, cfg.Summarizer, cfg.Logger = compaction.Off, 8_000, seen.Observe, writer, j.logger()
		return misreporting(t, cfg, 300, report), seen, writer
	}
	_, _, quiet := play(func(int, int) *usage { return nil })
	l, seen, writer := play(func(int, int) *usage { return &usage{PromptTokenCount: 1_000_000, CandidatesTokenCount: 5} })
	if writer.calls != quiet.calls || quiet.calls == 0 {
		t.Errorf("%d summaries, and %d where nothing is reported", writer.calls, quiet.calls)
	}
	if got := seen.of(compaction.Misreported); len(got) != 1 || got[0].Reason == "" || got[0].Session != ref {
		t.Errorf("told %d times: %+v", len(got), got)
	}
	if got := j.lines("level=WARN", "reported=1000000"); len(got) != 1 {
		t.Errorf("logged %q", j.lines())
	}
	if n := len(seen.of(compaction.Declined)); n > 3 {
		t.Errorf("%d looks in vain", n)
	}
	if l.largest > 8_000 {
		t.Errorf("a prompt of %d tokens went out", l.largest)
	}
	checkView(t, l.svc)
}

// What is told again is a change: a provider that has come to its senses, and lost them again.
func TestAProviderIsReportedAgainAfterBelievedCounts(t *testing.T) {
	t.Parallel()
	type usage = genai.GenerateContentResponseUsageMetadata
	seen := &notes{}
	cfg, _ := oracleConfig()
	cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer, cfg.Summarizer = compaction.Off, 8_000, seen.Observe, &terse{}
	misreporting(t, cfg, 30, func(round, prompt int) *usage {
		if round/10 == 1 {
			return &usage{PromptTokenCount: int32(prompt), CandidatesTokenCount: 5}
		}
		return &usage{PromptTokenCount: 500_000, CandidatesTokenCount: 5}
	})
	if got := len(seen.of(compaction.Misreported)); got != 2 {
		t.Errorf("told %d times, want 2", got)
	}
}

// Agents and models may take turns under one session or one name, some counted well and some not: each
// doubt is told once, not in every turn.
func TestAlternatingCountsAreReportedOnce(t *testing.T) {
	t.Parallel()
	type usage = genai.GenerateContentResponseUsageMetadata
	for name, report := range map[string]func(round, prompt int) *usage{
		"too low and too high": func(round, _ int) *usage {
			return &usage{PromptTokenCount: []int32{1, 1_000_000}[round%2], CandidatesTokenCount: 5}
		},
		"believed and too high": func(round, prompt int) *usage {
			return &usage{PromptTokenCount: []int32{int32(prompt), 1_000_000}[round%2], CandidatesTokenCount: 5}
		},
		"believed and too low": func(round, prompt int) *usage {
			return &usage{PromptTokenCount: []int32{int32(prompt), 1}[round%2], CandidatesTokenCount: 5}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var j journal
			seen := &notes{}
			cfg, _ := oracleConfig()
			cfg.InvocationThreshold, cfg.ContextWindow, cfg.Observer, cfg.Summarizer, cfg.Logger = compaction.Off, 8_000, seen.Observe, &terse{}, j.logger()
			misreporting(t, cfg, 100, report)
			if n := len(seen.of(compaction.Misreported)); n > 1 {
				t.Errorf("told %d times", n)
			}
			if got := j.lines("is counted"); len(got) == 0 || len(got) > 2 {
				t.Errorf("%d lines: %q", len(got), got)
			}
		})
	}
}

// Some adapters count thoughts as output, and some count wrong. No later prompt holds more of an answer
// than the answer.
func TestAnOutputThatIsCountedTooHighCostsNoCompaction(t *testing.T) {
	t.Parallel()
	type usage = genai.GenerateContentResponseUsageMetadata
	play := func(output int32) int {
		writer := &terse{}
		cfg, _ := oracleConfig()
		cfg.InvocationThreshold, cfg.ContextWindow, cfg.Summarizer = compaction.Off, 8_000, writer
		misreporting(t, cfg, 100, func(_, prompt int) *usage {
			return &usage{PromptTokenCount: int32(prompt), CandidatesTokenCount: output}
		})
		return writer.calls
	}
	want := play(20)
	for _, output := range []int32{3_000, 1_000_000, math.MaxInt32, math.MinInt32} {
		if got := play(output); got != want || want == 0 {
			t.Errorf("%d summaries where %d tokens of output are counted, want %d", got, output, want)
		}
	}
}
