//go:build race

package testkit

import (
	"testing"

	"google.golang.org/adk/session"
)

// Database skips the test: with the race detector SQLite takes most of the time, and ADK's database service
// shares no memory with this module that its in-memory service does not share.
func Database(t testing.TB) Backend {
	t.Helper()
	OpenDatabase(t, "", true)
	return Backend{}
}

// OpenDatabase skips the test; see [Database].
func OpenDatabase(t testing.TB, _ string, _ bool) session.Service {
	t.Helper()
	t.Skip("ADK's database service is left out with the race detector")
	return nil
}

// Backends are the storages that goroutines of this module work on.
func Backends(t testing.TB) []Backend {
	t.Helper()
	return []Backend{InMemory(), Persistence(t)}
}
