package integration_test

import (
	"slices"
	"testing"

	"github.com/adk-go-ext/longsession/internal/testkit"
	"github.com/adk-go-ext/longsession/internal/testkit/storages"
)

// mode is how the service works on a session during a test.
type mode struct {
	name string
	// synchronous is Config.Synchronous.
	synchronous bool
	// flushed waits for all background work before answers of a model (over the database, where that
	// reads the whole session, before every third) and after every turn, so that records are stored in
	// the midst of turns.
	flushed bool
	// reopened closes the service after every so many turns and opens a new one over the same storage.
	reopened int
}

var (
	synchronous = mode{name: "synchronous", synchronous: true}
	flushed     = mode{name: "flushed", flushed: true}
	background  = mode{name: "background"}
	reopened    = mode{name: "reopened", synchronous: true, reopened: 7}
)

// turns is how many turns a test of n turns takes: ADK's database service reads and decodes the whole
// session at every turn, so only one mode goes all the way over it.
func (m mode) turns(store storages.Storage, n int) int {
	if store.Name == "inmemory" || m.reopened > 0 {
		return n
	}
	return n * 2 / 5
}

// overStorages runs f over every storage in every mode; over the databases, for the time it takes, only
// in the modes that differ there: records that come in the midst of a turn, and other processes.
// Unless [testkit.Whole], each database has one of these: ADK's, which refuses stale handles, the first,
// and this module's own, which loads what is visible only, the last. Where [testkit.Brief] reports true,
// sessions lie in memory.
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

// inMemoryIn runs f over the in-memory service in every mode; for what no storage has a part in.
func inMemoryIn(t *testing.T, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	overModes(t, storages.InMemory(), modes, f)
}

// everywhere runs f over every storage in every mode there is.
func everywhere(t *testing.T, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	for _, store := range storages.All(t) {
		overModes(t, store, []mode{synchronous, flushed, background, reopened}, f)
	}
}

// overModes runs f over empty storages like store. With the race detector, of several modes only one
// remains in which compactions run next to turns.
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

// raced returns the mode that is worth a run with the race detector.
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
