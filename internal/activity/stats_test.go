package activity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/internal/activity"
	"github.com/adk-go-ext/longsession/tokens"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestBlockHasTheExactLayout(t *testing.T) {
	t.Parallel()
	got := activity.Stats{
		Now:          now,
		Compactions:  activity.Boundaries{Count: 1, Last: now.Add(-4*time.Minute - 12*time.Second - 400*time.Millisecond), Text: "auth module"},
		Checkpoints:  activity.Boundaries{Count: 3, Last: now.Add(-51 * time.Second), Text: "finished surveying messageKinds for the v3 design"},
		SummaryChars: 8420,
		Subtasks:     activity.Subtasks{Count: 2, Usage: tokens.Usage{PromptTokens: 32919, OutputTokens: 338}, USD: 10_700_000},
		Models: []activity.Model{
			{Name: "gemini-2.5-flash", Calls: 2, Usage: tokens.Usage{PromptTokens: 16520, OutputTokens: 206}, USD: 5_471_000},
			{Name: "gemini-3.1-pro-preview-customtools", Calls: 5, Usage: tokens.Usage{PromptTokens: 30822, OutputTokens: 558}, USD: 68_340_000},
		},
	}.String()
	const want = `Context-management activity:
  Compactions:  1 (last 4m12s ago, focus: auth module)
  Checkpoints:  3 (last 51s ago, note: finished surveying messageKinds for the v3 design)
  Summarized:   8420 chars across all boundaries
  Subtasks:     2 (32919 in / 338 out tokens, $0.0107 rolled up to /stats total)
  Models:       gemini-3.1-pro-preview-customtools (5 turns, 30822 in / 558 out, $0.0683)
              + gemini-2.5-flash (2 turns, 16520 in / 206 out, $0.0055)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEmptyRowsShowZeroAlone(t *testing.T) {
	t.Parallel()
	got := activity.Stats{Models: []activity.Model{{Name: "gemini-2.5-flash", Calls: 2}}}.String()
	const want = `Context-management activity:
  Compactions:  0
  Checkpoints:  0
  Summarized:   0
  Subtasks:     0`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A model without a price did not work for free, and a clock that went back made nothing younger than
// now. A note comes from a model.
func TestWhatIsUnknownIsSaidAndTextsStayOnTheirLine(t *testing.T) {
	t.Parallel()
	got := activity.Stats{
		Now:         now,
		Checkpoints: activity.Boundaries{Count: 1, Last: now.Add(time.Hour), Text: "done\x1b[2J\r\n  Subtasks:     9\u202e"},
		Compactions: activity.Boundaries{Count: 2, Last: now.Add(-26 * time.Hour)},
		Subtasks:    activity.Subtasks{Count: 1, Unpriced: true, USD: tokens.Cent},
		Models:      []activity.Model{{Name: "a\x07", Calls: 1, Unpriced: true}, {Name: "b", Calls: 1, USD: 1}, {Name: "c", Unpriced: true, Usage: tokens.Usage{OutputTokens: 1}}},
	}.String()
	for _, want := range []string{"1 (last 0s ago, note: done[2J Subtasks: 9)", "2 (last 26h0m0s ago)", "$0.0100 + unpriced rolled up",
		"  Models:       b (1 turns, 0 in / 0 out, $0.0000)", "+ c (0 turns, 0 in / 1 out, unpriced)\n              + a (1 turns, 0 in / 0 out, unpriced)"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != 7 {
		t.Errorf("%d line breaks:\n%s", n, got)
	}
}
