package auditcmd

import (
	"testing"

	"github.com/adk-go-ext/longsession/cmd/longsession/internal/audit"
)

func TestWhatACheckFoundIsShown(t *testing.T) {
	t.Parallel()
	share := .526
	for want, c := range map[string]audit.Compaction{
		"": {},
		"53% of its exact values are in the view":                                           {Kept: &share},
		"1 invented value cut out of the summary":                                           {Invented: 1},
		"53% of its exact values are in the view; 2 invented values cut out of the summary": {Kept: &share, Invented: 2},
	} {
		if got := compactionChecked(&c); got != want {
			t.Errorf("%+v is shown as %q, want %q", c, got, want)
		}
	}
}
