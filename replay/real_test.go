package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/replay"
	"github.com/adk-go-ext/longsession/replay/conversation"
	"github.com/adk-go-ext/longsession/summarizer"
	"github.com/adk-go-ext/longsession/tokens"
)

// read returns the recorded conversations of a file, or skips the test without LONGSESSION_DATA.
func read(t *testing.T, file string) []*conversation.Conversation {
	t.Helper()
	folder := os.Getenv("LONGSESSION_DATA")
	if folder == "" {
		t.Skip("LONGSESSION_DATA is not set: no real conversations")
	}
	all, err := conversation.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func policy(window int) replay.Policy {
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous, cfg.ContextWindow = summarizer.Extractive{}, true, window
	return replay.Policy{Name: fmt.Sprint(window), Config: cfg}
}

// byPrice lets prices decide, as the library does by default.
func byPrice(p replay.Policy) replay.Policy {
	p.Name, p.Config.AgentModel = p.Name+" by price", "gemini-2.5-flash"
	p.Config.InvocationThreshold, p.Config.SafetyRatio = 0, 0
	return p
}

// price has the prices that "longsession replay" goes by if nobody names others.
func price(t *testing.T) tokens.Model {
	t.Helper()
	m, ok := tokens.Lookup("gemini-2.5-flash")
	if !ok {
		t.Fatal("the registry has lost gemini-2.5-flash")
	}
	return m
}

func compare(t *testing.T, c *conversation.Conversation, policies ...replay.Policy) []*replay.Report {
	t.Helper()
	reports, err := replay.Compare(t.Context(), c, policies, replay.Options{Fixed: replay.FixedAuto, Model: price(t)})
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// The windows range from nearly sufficient to far too small.
func TestRealSessionsLoseNothing(t *testing.T) {
	t.Parallel()
	files := map[string]int{"coding_agent_sessions.jsonl": 3, "tau_airline_gpt4o.jsonl": 60, "memorybank_zh_en.jsonl": 20, "bfcl_memory.jsonl": 20}
	for file, least := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			compactions, long := 0, 0
			var played, recommended []*replay.Report
			for i, c := range read(t, file) {
				if testkit.Race && (i%4 != 0 || c.Messages() > 400) {
					continue
				}
				for i, r := range compare(t, c, policy(200_000), policy(32_000), policy(8_000), byPrice(policy(200_000)), byPrice(policy(32_000)), byPrice(policy(8_000))) {
					if i < 3 {
						compactions += len(r.Compactions)
						played = append(played, r)
					} else {
						recommended = append(recommended, r)
					}
					if r.Orphans > 0 || r.Hidden > 0 {
						t.Errorf("%s, window %d: %d orphans, %d violations: %v", c.ID, r.Limit, r.Orphans, r.Hidden, r.Problems)
					}
					if r.With.ModelCalls != r.Without.ModelCalls {
						t.Errorf("%s, window %d: %d model calls, %d without compaction", c.ID, r.Limit, r.With.ModelCalls, r.Without.ModelCalls)
					}
					for _, o := range r.Over {
						if o.Needless() {
							t.Errorf("%s, window %d, call %d: a prompt of %d tokens, although only %d must stay raw", c.ID, r.Limit, o.Call, o.Tokens, o.KeptTokens)
						}
					}
					if r.Messages >= 300 && r.Limit == 32_000 {
						long++
						if r.SavedPercent < 60 {
							t.Errorf("%s: %.1f %% of the prompt tokens saved, want 60", c.ID, r.SavedPercent)
						}
					}
				}
			}
			if compactions < least {
				t.Errorf("only %d compactions, want %d", compactions, least)
			}
			if file == "coding_agent_sessions.jsonl" && long < 3 && !testkit.Race {
				t.Errorf("only %d long conversations", long)
			}
			if !testkit.Race {
				measured[file](t, played)
				ofTheDefault(t, file, played, recommended)
			}
		})
	}
}

// The windows are so small that a single tool result fills one.
func TestNoPromptIsNeedlesslyOverASmallWindow(t *testing.T) {
	t.Parallel()
	if testkit.Race {
		t.Skip("too slow with the race detector; other tests cover this with it")
	}
	step := 1_000
	if os.Getenv("LONGSESSION_SOAK") != "" {
		step = 130
	}
	over := 0
	var needless []string
	for _, c := range read(t, "coding_agent_sessions.jsonl") {
		var windows []replay.Policy
		for window := 4_000; window <= 16_000; window += step {
			windows = append(windows, policy(window))
		}
		for _, r := range compare(t, c, windows...) {
			for _, o := range r.Over {
				over++
				if o.Tokens <= r.Limit || o.Needless() || o.Unforeseen && step == 1_000 {
					needless = append(needless, fmt.Sprintf("%s, window %d, call %d: a prompt of %d tokens, %d expected, although only %d must stay raw", c.ID, r.Limit, o.Call, o.Tokens, o.Expected, o.KeptTokens))
				}
			}
		}
	}
	// Four are known, each with summaries that are not merged: one right after a result that no window holds, and three in
	// a turn whose message takes up three quarters of the window.
	if len(needless) > 4 {
		t.Errorf("%d prompts:\n%s", len(needless), strings.Join(needless, "\n"))
	}
	if over < 5 { // results and arguments that fill a window alone are shown as their ends
		t.Errorf("%d prompts over the limit: the windows are too large for this test", over)
	}
}

// The policy compacts where the recorded application did.
func TestPromptAfterARecordedCompactionIsNoLargerThanTheirs(t *testing.T) {
	t.Parallel()
	with := func(window int, change func(*replay.Policy)) replay.Policy {
		p := policy(window)
		change(&p)
		return p
	}
	mirror := func(p *replay.Policy) { p.When = replay.AlsoWhereRecorded }
	if testkit.Race {
		t.Skip("too slow with the race detector; other tests cover this with it")
	}
	compared := 0
	var theirs, ours, bySummaries []any // with a window of 32,000, and with the recorded summaries
	for _, c := range read(t, "coding_agent_sessions.jsonl") {
		if len(c.Compactions) == 0 {
			continue
		}
		for i, r := range compare(t, c, with(200_000, mirror), with(32_000, mirror), with(8_000, mirror),
			with(200_000, func(p *replay.Policy) { p.When = replay.AsRecorded })) {
			if r.Hidden > 0 || len(r.Recorded) == 0 {
				t.Errorf("%s, window %d: %d compared, problems %v", c.ID, r.Limit, len(r.Recorded), r.Problems)
			}
			for _, at := range r.Recorded {
				compared++
				switch i {
				case 1:
					theirs, ours = append(theirs, at.Theirs), append(ours, at.Ours)
				case 3:
					bySummaries = append(bySummaries, at.Ours)
				}
				if at.Theirs == 0 || at.Ours > at.Theirs {
					t.Errorf("%s, window %d, call %d: a prompt of %d tokens, %d in the recorded application", c.ID, r.Limit, at.Call, at.Ours, at.Theirs)
				}
			}
		}
	}
	if compared != 12 {
		t.Errorf("%d prompts compared, want those of 3 recorded compactions under 4 policies", compared)
	}
	testkit.Figures(t, benchmarks, "next prompt had %d, %d and %d tokens; theirs had %d, %d and %d. With their own summaries "+
		"(`--summarizer recorded`) it has %d, %d and %d.", slices.Concat(ours, theirs, bySummaries)...)
}
