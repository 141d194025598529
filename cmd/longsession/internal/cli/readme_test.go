package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
)

// The README ends its demo with what the report says of the sample, and that is no loss.
func TestREADMEShowsWhatReplayRecommends(t *testing.T) {
	t.Parallel()
	testkit.SkipBrief(t, "it plays the whole sample, and other tests run the same command")
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	code, out, complaints := called(t.Context(), "replay", "../../testdata/sample.jsonl", "--quiet")
	_, advice, found := strings.Cut(out, "\nRecommendation\n")
	first, _, _ := strings.Cut(strings.TrimSpace(advice), "\n")
	if code != 0 || !found || !strings.Contains(first, "It saves $") || !strings.Contains(string(readme), "```\n"+first+"\n```\n") {
		t.Errorf("exit code %d, %s: README.md does not show the recommendation\n%s", code, complaints, out)
	}
}
