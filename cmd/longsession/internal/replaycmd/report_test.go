package replaycmd

import (
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/replay"
)

func TestEachBrokenRuleIsOneFinding(t *testing.T) {
	t.Parallel()
	over := []replay.Overlong{{Tokens: 9000, KeptTokens: 10}, {Tokens: 9001, KeptTokens: 10}, {Tokens: 9002, Unavoidable: true}}
	const limit = "2 prompts over the limit of 8,000 tokens, although the events that must stay raw would fit"
	for name, c := range map[string]struct {
		report replay.Report
		bare   bool
		want   []string
	}{
		"none":   {},
		"orphan": {report: replay.Report{Orphans: 1}, want: []string{"1 orphan: a call was sent without its result, or a result without its call"}},
		"view":   {report: replay.Report{Hidden: 3, Problems: []string{"a", "b"}}, want: []string{"3 violations of the rules for a view"}},
		"calls":  {report: replay.Report{With: replay.Sent{ModelCalls: 6}, Without: replay.Sent{ModelCalls: 4}}, want: []string{"2 model calls more than without compaction"}},
		"limit":  {report: replay.Report{Over: over, Limit: 8000}, want: []string{limit}},
		"bare":   {report: replay.Report{Over: over, Limit: 8000}, bare: true},
		"two": {report: replay.Report{Hidden: 1, Over: over, Limit: 8000},
			want: []string{"1 violation of the rules for a view", limit}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := judge(&c.report, c.bare); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
