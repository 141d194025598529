package persistence_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence"
)

// Package persistence is a plain session service and must not import package compaction, but it
// implements the contracts.
var (
	_ compaction.RecordAppender = (*persistence.SQLiteSessionService)(nil)
	_ compaction.PartialService = (*persistence.SQLiteSessionService)(nil)
	_ compaction.PartialService = (*persistence.Snapshot)(nil)
	_ compaction.PartialSession = (*persistence.ActiveSession)(nil)
)

func TestContractsOfInnerServicesAreKept(t *testing.T) {
	t.Parallel()
	compactiontest.RunOptional(t, func(t *testing.T) session.Service { return open(t, newPath(t)) })
}
