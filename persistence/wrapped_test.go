package persistence_test

import (
	"context"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
)

// wrapped returns a compaction service over a file.
func wrapped(t *testing.T) session.Service {
	t.Helper()
	cfg := compaction.DefaultConfig()
	cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
	svc, err := compaction.NewCompactionService(open(t, newPath(t), persistence.WithSynchronousNormal()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return svc
}

// The suite for compacting services passes with a file underneath.
func TestSessionsOfAFileCanBeCompacted(t *testing.T) {
	t.Parallel()
	compactiontest.Run(t, wrapped)
}

func TestADKsOwnSuitePassesWrapped(t *testing.T) {
	t.Parallel()
	sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, wrapped)
}
