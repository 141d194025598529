package cli

import (
	"regexp"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/record"
)

// TestEveryCommandCountsCompactionsAlike: a merge of summaries compacts nothing of the conversation.
func TestEveryCommandCountsCompactionsAlike(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(8, "bot").Compact("r1", "e1", "e2").Compact("r2", "e3", "e4").Compact("r3", "e5", "e6").Merge("m1", "r1", "r2")
	h.Amend(func(m *record.Metadata) { m.Trigger = record.TriggerMerge })
	path := storeSession(t, h, "shop", "ada", "s1")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list", path}, `(?m)compactions  merges.*\n.* 3 +1 `},
		{[]string{path, "s1"}, `(?m)^compactions  3, and 1 merge$`},
		{[]string{"verify", path}, `20 events, 3 compactions and 1 merge;`},
		{[]string{"activity", path}, `Compactions:  3, and 1 merge \(last`},
		{[]string{"list", path, "--json"}, `"compactions_made":3,"merges_made":1,`},
		{[]string{"verify", path, "--json"}, `"compactions_made":3,"merges_made":1,`},
		{[]string{"activity", path, "--json"}, `"compactions_made":3,"merges_made":1,`},
	} {
		if _, out, complaints := called(t.Context(), append([]string{"audit"}, c.args...)...); !regexp.MustCompile(c.want).MatchString(out) {
			t.Errorf("%s does not say %s:\n%s%s", c.args[0], c.want, out, complaints)
		}
	}
}
