package integration_test

import (
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/persistence"
)

// Package persistence must not import compaction, so it implements these contracts without naming
// them.
var (
	_ session.Service           = (*persistence.SQLiteSessionService)(nil)
	_ compaction.RecordAppender = (*persistence.SQLiteSessionService)(nil)
)
