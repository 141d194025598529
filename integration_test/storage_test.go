package integration_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession/persistence"
)

// storage is where sessions live. It outlasts the services opened over it.
type storage struct {
	name string
	open func(t *testing.T) session.Service
}

func storages(t *testing.T) []storage {
	if raced {
		return []storage{inMemory(), onOwnFile(t)}
	}
	return []storage{inMemory(), onSQLite(t), onOwnFile(t)}
}

// onOwnFile is this module's own service on a SQLite file, which loads what is visible only.
func onOwnFile(t *testing.T) storage {
	path := filepath.Join(t.TempDir(), "own.db")
	return storage{"persistence", func(t *testing.T) session.Service {
		t.Helper()
		// A test need not survive a power cut.
		service, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = service.Close() })
		return service
	}}
}

// inMemory is ADK's in-memory service: it is its own storage.
func inMemory() storage {
	service := session.InMemoryService()
	return storage{"inmemory", func(*testing.T) session.Service { return service }}
}

// onSQLite is ADK's database service on a SQLite file. The driver is modernc's, handed to gorm as a
// connection: glebarez/sqlite registers the same driver name and panics beside it.
func onSQLite(t *testing.T) storage {
	path := filepath.Join(t.TempDir(), "sessions.db")
	return storage{"database", func(t *testing.T) session.Service { return openSQLite(t, path, true) }}
}

// openSQLite opens a database service. Only with foreign keys does it delete the events of a session
// together with it.
func openSQLite(t *testing.T, path string, foreignKeys bool) session.Service {
	t.Helper()
	// A test need not survive a power cut.
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(5000)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)&_pragma=foreign_keys(%t)", path, foreignKeys))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	service, err := database.NewSessionService(&sqlite.Dialector{Conn: db}, &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(service); err != nil {
		t.Fatal(err)
	}
	return service
}

// another returns an empty storage of the same kind.
func another(t *testing.T, store storage) storage {
	switch store.name {
	case "inmemory":
		return inMemory()
	case "persistence":
		return onOwnFile(t)
	default:
		return onSQLite(t)
	}
}

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
func (m mode) turns(store storage, n int) int {
	if store.name == "inmemory" || m.reopened > 0 {
		return n
	}
	return n * 2 / 5
}

// overStorages runs f over every storage in every mode; over the databases, for the time it takes, in
// the modes only that differ there: records that come in the midst of a turn, and other processes.
// Without LONGSESSION_SOAK each database has one of these: ADK's, which refuses stale handles, the first,
// and this module's own, which loads what is visible only, the last.
func overStorages(t *testing.T, modes []mode, f func(t *testing.T, store storage, m mode)) {
	t.Helper()
	slow := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return m.synchronous && m.reopened == 0 || m == background })
	if len(slow) == 0 {
		slow = modes[len(modes)-1:]
	}
	for _, store := range storages(t) {
		run := modes
		switch {
		case store.name == "inmemory" || store.name == "persistence" && whole():
		case whole():
			run = slow
		case store.name == "database":
			run = slow[:1]
		default:
			run = slow[len(slow)-1:]
		}
		overModes(t, store, run, f)
	}
}

// inMemoryIn runs f over the in-memory service in every mode; for what no storage has a part in.
func inMemoryIn(t *testing.T, modes []mode, f func(t *testing.T, store storage, m mode)) {
	t.Helper()
	overModes(t, inMemory(), modes, f)
}

// everywhere runs f over every storage in every mode there is.
func everywhere(t *testing.T, f func(t *testing.T, store storage, m mode)) {
	t.Helper()
	for _, store := range storages(t) {
		overModes(t, store, []mode{synchronous, flushed, background, reopened}, f)
	}
}

func overModes(t *testing.T, store storage, modes []mode, f func(t *testing.T, store storage, m mode)) {
	t.Helper()
	if raced {
		beside := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return m.synchronous })
		if modes = modes[len(modes)-1:]; len(beside) > 0 {
			modes = beside[:1]
		}
	}
	for _, m := range modes {
		t.Run(store.name+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			f(t, another(t, store), m)
		})
	}
}
