package replay_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay"
)

// The documents that quote what the tests of this package measure.
const (
	benchmarks = "../BENCHMARKS.md"
	readme     = "../README.md"
	limits     = "../docs/limits.md"
)

// measured compares what the documents say about a file of recorded conversations with how they were played, with
// windows of 200,000, 32,000 and 8,000 tokens.
var measured = map[string]func(*testing.T, []*replay.Report){
	"coding_agent_sessions.jsonl": ofCodingAgents,
	"tau_airline_gpt4o.jsonl":     ofTheAirline,
	"memorybank_zh_en.jsonl":      func(t *testing.T, all []*replay.Report) { ofTalk(t, "chats", all) },
	"bfcl_memory.jsonl":           func(t *testing.T, all []*replay.Report) { ofTalk(t, "monologues", all) },
}

// total adds up the reports of one window.
func total(all []*replay.Report, window int) replay.Total {
	var sum replay.Total
	for _, r := range all {
		if r.Limit == window {
			sum.Add(r)
		}
	}
	return sum
}

// dollars is what all requests have cost, those for summaries included.
func dollars(t replay.Total) float64 { return t.With.Dollars + t.Summarizer.Dollars }

func millions(n int) float64 { return float64(n) / 1e6 }

// row compares a row of the table of real conversations.
func row(t *testing.T, start string, sum replay.Total) {
	t.Helper()
	testkit.Figures(t, benchmarks, start+" | %.2f M | %.2f M | %.0f%% | %.2f to %.2f | %d to %d | %d |",
		millions(sum.Without.PromptTokens), millions(sum.With.PromptTokens), sum.SavedPercent,
		sum.Without.Dollars, dollars(sum), sum.Without.LargestPrompt, sum.With.LargestPrompt, sum.Compactions)
}

func ofCodingAgents(t *testing.T, all []*replay.Report) {
	t.Helper()
	wide, usual, small := total(all, 200_000), total(all, 32_000), total(all, 8_000)
	row(t, "| coding agents | 200,000", wide)
	row(t, "| coding agents | 32,000", usual)
	row(t, "| coding agents | 8,000", small)
	testkit.Figures(t, benchmarks, "as the report estimates it: %.2f of the %.2f of coding agents at 32,000,", usual.Summarizer.Dollars, dollars(usual))
	testkit.Figures(t, benchmarks, "%d of %d prompts at 32,000, %d at 8,000.", usual.Over, usual.With.ModelCalls, small.Over)

	var saved []any
	var fixed []int
	var ratios []float64
	for _, r := range all {
		if r.Limit == 32_000 && r.Messages > 300 {
			saved = append(saved, r.SavedPercent)
		}
		if r.Limit == 200_000 && r.Counts.Recorded > 0 {
			fixed, ratios = append(fixed, r.Counts.Fixed), append(ratios, r.Counts.Ratio)
		}
	}
	testkit.Figures(t, benchmarks, "of more than 300 messages save %.0f, %.0f and %.0f%%", saved...)
	testkit.Figures(t, benchmarks, "one estimated token is %.2f to %.2f of the provider's. The recorded application's own instructions and tools (%d to %d tokens)",
		slices.Min(ratios), slices.Max(ratios), slices.Min(fixed), slices.Max(fixed))
}

func ofTheAirline(t *testing.T, all []*replay.Report) {
	t.Helper()
	usual := total(all, 32_000)
	row(t, "| airline | 200,000, 32,000", total(all, 200_000))
	row(t, "| airline | 200,000, 32,000", usual)
	row(t, "| airline | 8,000", total(all, 8_000))
	testkit.Figures(t, benchmarks, "and %.2f of the %.2f of the airline.", usual.Summarizer.Dollars, dollars(usual))
	testkit.Figures(t, limits, "A hundred airline chats of about 20 messages took %.0f%% fewer prompt tokens with `compaction.DefaultConfig()`, and cost %.0f%% more.",
		usual.SavedPercent, 100*(dollars(usual)/usual.Without.Dollars-1))
}

func ofTalk(t *testing.T, name string, all []*replay.Report) {
	t.Helper()
	row(t, "| "+name+" | 200,000, 32,000", total(all, 200_000))
	row(t, "| "+name+" | 200,000, 32,000", total(all, 32_000))
	row(t, "| "+name+" | 8,000", total(all, 8_000))
}

// ofTheDefault compares what the default costs, by price, with no compaction and with the sliding window. A
// conversation whose prompts stay within 0.7 of the window may not cost more than without.
func ofTheDefault(t *testing.T, file string, byTurns, byPrice []*replay.Report) {
	t.Helper()
	for _, window := range []int{200_000, 32_000, 8_000} {
		turns, price := total(byTurns, window), total(byPrice, window)
		n, dearer, worst := 0, 0, 0.0
		for _, r := range byPrice {
			if r.Limit != window {
				continue
			}
			n++
			ratio := (r.With.Dollars + r.Summarizer.Dollars) / r.Without.Dollars
			worst = max(worst, ratio)
			if ratio > 1.0005 {
				dearer++
				if r.Without.LargestPrompt <= window*7/10 {
					t.Errorf("%s: %.3f of what it costs without, although its prompts stay within 0.7 of a window of %d", r.ID, ratio, window)
				}
			}
		}
		testkit.Figures(t, benchmarks, fmt.Sprintf("| %s | %d,000 | $%%.2f | $%%.2f | %%.3f | %%.3f | %%d of %%d | %%.3f |", sets[file], window/1_000),
			price.Without.Dollars, dollars(price), dollars(price)/price.Without.Dollars, dollars(turns)/price.Without.Dollars, dearer, n, worst)
		if window == 32_000 && file == "coding_agent_sessions.jsonl" {
			testkit.Figures(t, benchmarks, "The coding agents at 32,000 send %.2f M prompt tokens, %.0f%% less.", millions(price.With.PromptTokens), price.SavedPercent)
			testkit.Figures(t, readme, "| prompt tokens of ten recorded coding-agent sessions, window of 32,000 | %.2f M | %.2f M (%.0f%% less) |",
				millions(price.Without.PromptTokens), millions(price.With.PromptTokens), price.SavedPercent)
		}
		if window == 32_000 && file == "tau_airline_gpt4o.jsonl" {
			testkit.Figures(t, readme, "| cost of a hundred airline chats of about 20 messages each | $%.2f | $%.2f |", price.Without.Dollars, dollars(price))
		}
		if window == 8_000 && file == "tau_airline_gpt4o.jsonl" {
			testkit.Figures(t, limits, "into which some of them do not fit, they cost %.0f%% more.", 100*(dollars(price)/price.Without.Dollars-1))
		}
	}
}

// sets are the names of the files in the table.
var sets = map[string]string{
	"coding_agent_sessions.jsonl": "coding agents", "tau_airline_gpt4o.jsonl": "airline", "memorybank_zh_en.jsonl": "ten-day chats", "bfcl_memory.jsonl": "monologues",
}

// Each summary that is shorter, and each that is missing, costs facts; the table says how many.
func TestRealFactsAreKeptAsTheTableSays(t *testing.T) {
	t.Parallel()
	if testkit.Race {
		t.Skip("too slow with the race detector; other tests cover this with it")
	}
	settings := []struct{ summaries, size int }{{1, 250}, {1, 500}, {5, 250}, {5, 500}, {5, 1_000}, {10, 500}, {10, 1_000}}
	var policies []replay.Policy
	for _, s := range settings {
		p := policy(32_000)
		p.Config.MaxSummaries, p.Config.MaxSummaryTokens = s.summaries, s.size
		policies = append(policies, p)
	}
	sums := make([]replay.Total, len(settings))
	for _, c := range read(t, "bfcl_memory.jsonl") {
		for i, r := range compare(t, c, policies...) {
			sums[i].Add(r)
		}
	}
	for i, s := range settings {
		testkit.Figures(t, benchmarks, fmt.Sprintf("| %d / %d | %%.0f%%%% | %%d | %%d |", s.summaries, s.size),
			sums[i].SavedPercent, sums[i].Facts.Kept, sums[i].Facts.KeepLast)
	}
	testkit.Figures(t, benchmarks, "| no compaction | 0%% | %d | |", sums[0].Facts.Questions)
}
