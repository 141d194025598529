package chart_test

import (
	"fmt"
	"strings"

	"github.com/adk-go-ext/longsession/replay"
)

// made is a report as a replay would give it: a history that grows, and a window that is compacted
// whenever the prompt passes seven tenths of the limit.
func made(id, policy string, calls, limit int) *replay.Report {
	r := &replay.Report{
		File: "sessions.jsonl", Line: 3, ID: id, Policy: policy, Messages: 2 * calls, Limit: limit,
		Counts: replay.Counts{Recorded: calls / 2, Ratio: 1.07},
	}
	whole, short := 900, 900
	for i := range calls {
		grown := 180 + 97*(i*i%11) + 400*(i%13/12)
		whole, short = whole+grown, short+grown
		if short > limit*7/10 {
			r.Compactions = append(r.Compactions, replay.Compaction{
				Call: i, Turn: i/4 + 1, Kind: "summary", Trigger: "tokens", Events: 9 + i%5,
				OriginalTokens: short * 2 / 3, CompactedTokens: 400 + i,
				Summary: fmt.Sprintf("## Summary %d\n\n%s", len(r.Compactions)+1,
					strings.Repeat("- The invoice 2031-774 of the harbour office is paid; 48 crates leave on Tuesday.\n", 12)),
			})
			short = short/3 + 400 + i
		}
		r.Turns = i/4 + 1
		r.Without = sent(r.Without, whole)
		r.With = sent(r.With, short)
		r.Calls = append(r.Calls, replay.Call{Turn: i/4 + 1, Without: whole, With: short, WithoutUSD: r.Without.Dollars, WithUSD: r.With.Dollars})
	}
	r.Events = r.Messages + len(r.Compactions)
	if r.Without.PromptTokens > 0 {
		r.SavedPercent = 100 * float64(r.Without.PromptTokens-r.With.PromptTokens) / float64(r.Without.PromptTokens)
	}
	return r
}

func sent(s replay.Sent, prompt int) replay.Sent {
	s.ModelCalls++
	s.PromptTokens += prompt
	s.CachedTokens += prompt * 4 / 5
	s.OutputTokens += 90
	s.LargestPrompt = max(s.LargestPrompt, prompt)
	s.Dollars += float64(prompt) * 0.3e-6
	return s
}

// totals sums reports by their policies, in the order in which these come.
func totals(reports []*replay.Report) []replay.Total {
	var out []replay.Total
	place := map[string]int{}
	for _, r := range reports {
		i, known := place[r.Policy]
		if !known {
			i = len(out)
			place[r.Policy] = i
			out = append(out, replay.Total{})
		}
		out[i].Add(r)
	}
	return out
}
