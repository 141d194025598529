package integration_test

import (
	"hash/fnv"
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
// [testkit.Whole], f runs once: over the storage and in the mode that follow from the test's name, so
// that the tests together meet all of them. ADK's database, which rejects stale handles, then gets the
// first of its modes, and this module's own, which loads only visible events, the last. The modes that
// no database gets, or else the first, are then those in memory. If [testkit.Brief] is true, sessions
// are in memory, in every mode.
func overStorages(t *testing.T, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	takingTurns(t, numberOf(t.Name()), modes, f)
}

// numberOf returns a number that follows from a test's name.
func numberOf(name string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum32() >> 8)
}

// share returns every n-th of the cases, beginning with one that follows from the test's name, so that the
// tests together play all of them. With [testkit.Whole] it returns them all.
func share[T any](t *testing.T, n int, cases []T) []T {
	t.Helper()
	if testkit.Whole() {
		return cases
	}
	n = min(n, len(cases))
	var out []T
	for i := numberOf(t.Name()) % n; i < len(cases); i += n {
		out = append(out, cases[i])
	}
	return out
}

// takingTurns is overStorages for the i-th of several subtests, which take turns with the storages and
// their modes.
func takingTurns(t *testing.T, i int, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	all := cells(t, modes)
	if !testkit.Whole() && !testkit.Brief() {
		c := all[i%len(all)]
		all = []cell{{c.store, c.modes[i/len(all)%len(c.modes):][:1]}}
	}
	for _, c := range all {
		overModes(t, c.store, c.modes, f)
	}
}

// cell is a storage with the modes in which a test runs over it.
type cell struct {
	store storages.Storage
	modes []mode
}

// cells returns what overStorages runs a test over.
func cells(t *testing.T, modes []mode) []cell {
	t.Helper()
	if testkit.Brief() {
		return []cell{{storages.InMemory(), modes}}
	}
	slow := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return m.synchronous && m.reopened == 0 || m == background })
	if len(slow) == 0 {
		slow = modes[len(modes)-1:]
	}
	first, last := slow[:1], slow[len(slow)-1:]
	rest := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return m == first[0] || m == last[0] })
	if len(rest) == 0 {
		rest = modes[:1]
	}
	var out []cell
	for _, store := range storages.All(t) {
		run := modes
		switch {
		case testkit.Whole() && store.Name == "database":
			run = slow
		case testkit.Whole():
		case store.Name == "inmemory":
			run = rest
		case store.Name == "database":
			run = first
		default:
			run = last
		}
		out = append(out, cell{store, run})
	}
	return out
}

// inMemoryIn runs f over the in-memory service in every mode, for tests that do not depend on
// storage.
func inMemoryIn(t *testing.T, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	overModes(t, storages.InMemory(), modes, f)
}

// alwaysInMemory is inMemoryIn in the form of takingTurns.
func alwaysInMemory(t *testing.T, _ int, modes []mode, f func(t *testing.T, store storages.Storage, m mode)) {
	t.Helper()
	inMemoryIn(t, modes, f)
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
