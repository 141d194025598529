package replaycmd

import (
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/terminal"
	"github.com/adk-go-ext/longsession/replay"
)

// TestWhatAModelKeepsIsShown only where a model wrote summaries.
func TestWhatAModelKeepsIsShown(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]replay.Summaries{
		"": {Calls: 3},
		"after 2 compactions, the view had 53% of the exact values of what was summarized": {Measured: 2, Kept: .526},
		"had 53% of the exact values of what was summarized; 1 invented value cut out":     {Measured: 1, Kept: .526, Invented: 1},
		"2 invented values cut out": {Invented: 2},
	} {
		got := keptLine(terminal.Screen{}, replay.Total{Summarizer: s})
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%+v is shown as %q, want %q", s, got, want)
		}
	}
}
