package storages

import (
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// Storage is a place where sessions lie. It outlasts the services that are opened over it.
type Storage struct {
	// Name is "inmemory", "database" or "persistence".
	Name string
	open func(t testing.TB) session.Service
	anew func(t testing.TB) Storage
}

// Open returns a service over the storage, which the end of the test closes. Another call opens the same
// storage again, as another process would.
func (s Storage) Open(t testing.TB) session.Service {
	t.Helper()
	return s.open(t)
}

// Anew returns an empty storage of the same kind.
func (s Storage) Anew(t testing.TB) Storage {
	t.Helper()
	return s.anew(t)
}

// Wrapped returns the same storage, whose services are opened through wrap.
func (s Storage) Wrapped(wrap func(session.Service) session.Service) Storage {
	open, anew := s.open, s.anew
	s.open = func(t testing.TB) session.Service { t.Helper(); return wrap(open(t)) }
	s.anew = func(t testing.TB) Storage { t.Helper(); return anew(t).Wrapped(wrap) }
	return s
}

// Holding returns a storage that is one service, such as one in memory. build makes an empty one.
func Holding(name string, build func() session.Service) Storage {
	service := build()
	return Storage{
		Name: name,
		open: func(testing.TB) session.Service { return service },
		anew: func(testing.TB) Storage { return Holding(name, build) },
	}
}

// InMemory is ADK's in-memory service.
func InMemory() Storage { return Holding("inmemory", session.InMemoryService) }

// Persistence is this module's service on a SQLite file of the test's own.
func Persistence(t testing.TB) Storage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.db")
	return Storage{
		Name: "persistence",
		open: func(t testing.TB) session.Service {
			t.Helper()
			// A test need not survive a power cut.
			service, err := persistence.NewSQLiteSessionService(path, persistence.WithSynchronousNormal())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = service.Close() })
			return service
		},
		anew: Persistence,
	}
}
