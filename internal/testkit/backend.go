package testkit

import (
	"path/filepath"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence"
)

// Backend is one storage for sessions. It outlasts the services that are opened over it.
type Backend struct {
	// Name is "inmemory", "database" or "persistence".
	Name string
	open func(t testing.TB) session.Service
	anew func(t testing.TB) Backend
}

// Open returns a service over the storage, which the end of the test closes. Another call opens the same
// storage again, as another process would.
func (b Backend) Open(t testing.TB) session.Service {
	t.Helper()
	return b.open(t)
}

// Anew returns an empty storage of the same kind.
func (b Backend) Anew(t testing.TB) Backend {
	t.Helper()
	return b.anew(t)
}

// Wrapped returns the same storage, whose services are opened through wrap.
func (b Backend) Wrapped(wrap func(session.Service) session.Service) Backend {
	open, anew := b.open, b.anew
	b.open = func(t testing.TB) session.Service { t.Helper(); return wrap(open(t)) }
	b.anew = func(t testing.TB) Backend { t.Helper(); return anew(t).Wrapped(wrap) }
	return b
}

// Holding returns a storage that is one service, such as one in memory. build makes an empty one.
func Holding(name string, build func() session.Service) Backend {
	service := build()
	return Backend{
		Name: name,
		open: func(testing.TB) session.Service { return service },
		anew: func(testing.TB) Backend { return Holding(name, build) },
	}
}

// InMemory is ADK's in-memory service.
func InMemory() Backend { return Holding("inmemory", session.InMemoryService) }

// Persistence is this module's service on a SQLite file of the test's own.
func Persistence(t testing.TB) Backend {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.db")
	return Backend{
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
