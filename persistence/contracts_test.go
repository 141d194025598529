package persistence_test

import (
	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence"
)

// Package persistence must not import package compaction, so that it is a plain session service. It
// implements the contracts all the same.
var (
	_ compaction.RecordAppender = (*persistence.SQLiteSessionService)(nil)
	_ compaction.PartialService = (*persistence.SQLiteSessionService)(nil)
	_ compaction.PartialService = (*persistence.Snapshot)(nil)
	_ compaction.PartialSession = (*persistence.ActiveSession)(nil)
)
