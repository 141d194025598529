package databases_test

import (
	"database/sql"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/postgres"
)

// pool opens connections to a store's database.
func (s *store) pool(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open(s.engine.driver, s.engine.dsn(s.dir, s.name, s.engine.adminUser))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// shared returns a service with leases and insertions over a store.
func (s *store) shared(t testing.TB) *postgres.Service {
	t.Helper()
	service, err := postgres.New(s.sessions, s.pool(t))
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func TestContractsOfSharedDatabases(t *testing.T) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		t.Run(e.name, func(t *testing.T) {
			compactiontest.RunInner(t, func(t *testing.T) session.Service { return newStore(t, e).shared(t) })
		})
	}
}

func TestADKsSuitePassesOnSharedDatabases(t *testing.T) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		t.Run(e.name, func(t *testing.T) {
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service { return newStore(t, e).shared(t) })
		})
	}
}

func TestCompactionOverSharedDatabases(t *testing.T) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		t.Run(e.name, func(t *testing.T) {
			compactiontest.Run(t, func(t *testing.T) session.Service {
				cfg := compaction.DefaultConfig()
				cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
				service, err := compaction.NewCompactionService(newStore(t, e).shared(t), cfg)
				if err != nil {
					t.Fatal(err)
				}
				return service
			})
		})
	}
}
