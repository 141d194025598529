package audit

import (
	"fmt"
	"testing"
)

// TestFindingsOfABrokenFileAreSortedInOneWay: a file that somebody changed everywhere has as many findings as events. With
// a comparison of each two of them this test would take minutes.
func TestFindingsOfABrokenFileAreSortedInOneWay(t *testing.T) {
	t.Parallel()
	const events = 100_000
	var found []Finding
	for seq := int64(1); seq <= events; seq++ {
		found = append(found, Finding{Seq: seq, Rule: RuleCoveredBy, Text: fmt.Sprint("is marked as covered by ", seq)},
			Finding{Seq: seq, Rule: RuleHidden, Text: "is hidden"}, Finding{Seq: seq, Rule: RuleLinks, Text: "the column was changed"})
		if seq%2 == 0 {
			found = append(found, Finding{Seq: seq, Rule: RuleChain, kind: "changed", Text: "was changed"})
		}
	}
	causes, all := Causes(found, nil), 0
	for _, c := range causes {
		all += 1 + len(c.Also)
	}
	// The links are one finding, and so is what is hidden; no digest is next to another one.
	if want := events + events/2 + 2; all != want || len(causes) != events/2 {
		t.Errorf("%d findings by %d causes, want %d by %d", all, len(causes), want, events/2)
	}
	for _, c := range causes {
		for _, also := range c.Also {
			if also.Rule == RuleCoveredBy && also.Seq > 1 && (also.Seq < c.Seq || also.Seq > c.Seq+1) {
				t.Fatalf("event %d is below event %d", also.Seq, c.Seq)
			}
		}
	}
}
