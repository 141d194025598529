package compaction_test

import (
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// backends are inner services, each with its own way to store events; see the tests of package
// integration_test that pin ADK's behavior.
func backends(t *testing.T) []storages.Storage {
	t.Helper()
	if testkit.Race {
		return []storages.Storage{storages.InMemory()}
	}
	return []storages.Storage{storages.InMemory(), storages.Database(t)}
}

// eachBackend runs f over every inner service.
func eachBackend(t *testing.T, f func(t *testing.T, inner session.Service)) {
	t.Helper()
	for _, b := range backends(t) {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			f(t, b.Open(t))
		})
	}
}
