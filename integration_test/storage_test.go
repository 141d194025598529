package integration_test

import (
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// mode is how the service processes a session during a test.
type mode struct {
	name string
	// synchronous is Config.Synchronous.
	synchronous bool
	// flushed waits for all background work before answers of a model and after every turn, so that
	// records are stored during turns. Over the database, where this reads the whole session, it
	// waits before every third answer.
	flushed bool
	// reopened closes the service after this many turns and opens a new one over the same storage.
	reopened int
	// layers puts a whole stack over the storage instead of the compaction service alone.
	layers bool
}

var (
	synchronous = mode{name: "synchronous", synchronous: true}
	flushed     = mode{name: "flushed", flushed: true}
	background  = mode{name: "background"}
	reopened    = mode{name: "reopened", synchronous: true, reopened: 7}
	layered     = mode{name: "layered", synchronous: true, layers: true}
)

// turns returns the number of turns of a test with n turns. ADK's database service reads and
// decodes the whole session in every turn, so only one mode plays all turns over it.
func (m mode) turns(store storages.Storage, n int) int {
	if store.Name == "inmemory" || m.reopened > 0 {
		return n
	}
	return n * 2 / 5
}

// overStorages runs f over every storage in every mode. To save time, the databases get only the
// modes that matter there: records stored during a turn, and other processes. Unless
// [testkit.Whole], each database gets one of these: the first for ADK's, which rejects stale
// handles, and the last for this module's own, which loads only visible events. If [testkit.Brief]
// is true, sessions are in memory.
func overStorages(t *testing.T, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	slow := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return m.synchronous && m.reopened == 0 || m == background })
	if len(slow) == 0 {
		slow = modes[len(modes)-1:]
	}
	if testkit.Brief() {
		inMemoryIn(t, modes, f)
		return
	}
	for _, store := range storages.All(t) {
		run := modes
		switch {
		case store.Name == "inmemory" || store.Name == "persistence" && testkit.Whole():
		case testkit.Whole():
			run = slow
		case store.Name == "database":
			run = slow[:1]
		default:
			run = slow[len(slow)-1:]
		}
		overModes(t, store, run, f)
	}
}

// inMemoryIn runs f over the in-memory service in every mode, for tests that do not depend on
// storage.
func inMemoryIn(t *testing.T, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	overModes(t, storages.InMemory(), modes, f)
}

// everywhere runs f over every storage in every mode.
func everywhere(t *testing.T, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	for _, store := range storages.All(t) {
		overModes(t, store, []mode{synchronous, flushed, background, reopened}, f)
	}
}

// overModes runs f over empty storages like store. With the race detector, it keeps only one mode
// in which compactions run during turns.
func overModes(t *testing.T, store storages.Storage, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	if testkit.Race {
		modes = raced(modes)
	}
	for _, m := range modes {
		t.Run(store.Name+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			f(t, store.Anew(t), m)
		})
	}
}

// raced returns the modes that are worth running with the race detector.
func raced(modes []mode) []mode {
	switch {
	case slices.Contains(modes, background):
		return []mode{background}
	case slices.Contains(modes, flushed):
		return []mode{flushed}
	default:
		return modes[:1]
	}
}
