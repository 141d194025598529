package budget_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/layer/budget"
)

// A panic of the plugin itself ends no turn, and operators can see it.
func TestAPanicOfThePluginLeavesATrace(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var seen []budget.Observation
	m, err := budget.New(budget.Config{
		ContextWindow: 100_000, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Observer: func(_ context.Context, o budget.Observation) { seen = append(seen, o) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if content, err := m.Plugin().BeforeRunCallback()(nil); content != nil || err != nil { // a run without a context
			t.Fatalf("the plugin answers %v, %v", content, err)
		}
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); strings.Count(got, "a panic was survived") != 1 || !strings.Contains(got, "budget: before a run") {
		t.Errorf("the log has %q, want one line that names the place", got)
	}
	if len(seen) != 1 || seen[0].Kind != budget.Failed || seen[0].Reason != "budget: before a run" || seen[0].Err == nil {
		t.Errorf("the observer has seen %+v, want one failure that names the place", seen)
	}
}
