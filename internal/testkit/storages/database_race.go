//go:build race

package storages

import (
	"testing"

	"google.golang.org/adk/session"
)

// Database skips the test: with the race detector SQLite takes most of the time, and ADK's database service
// shares no memory with this module that its in-memory service does not share.
func Database(t testing.TB) Storage {
	t.Helper()
	OpenDatabase(t, "", true)
	return Storage{}
}

// OpenDatabase skips the test; see [Database].
func OpenDatabase(t testing.TB, _ string, _ bool) session.Service {
	t.Helper()
	t.Skip("ADK's database service is left out with the race detector")
	return nil
}

// All are the storages that goroutines of this module work on.
func All(t testing.TB) []Storage {
	t.Helper()
	return []Storage{InMemory(), Persistence(t)}
}
