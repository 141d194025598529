package compactiontest_test

import (
	"strings"
	"testing"

	ct "github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/filtered"
)

func TestCheckAcceptsAGoodViewAndCatchesALoss(t *testing.T) {
	t.Parallel()
	h := (&ct.History{}).Turns(2, "bot").Compact("s", "e1", "e2")
	view := filtered.Project(h.Events)
	if err := ct.Check(h.Events, view); err != nil {
		t.Error(err)
	}
	if err := ct.Check(h.Events, view[1:]); err == nil || !strings.Contains(err.Error(), "event e1 is hidden") {
		t.Errorf("a view without its summary: %v", err)
	}
}
