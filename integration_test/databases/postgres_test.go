package databases_test

import (
	"database/sql"
	"testing"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/sessiontestsuite"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// pool opens connections to a store's database.
func (s *store) pool(t testing.TB) *sql.DB {
	t.Helper()
	return openPool(t, s.engine, s.dsn())
}

// shared returns a service with leases and insertions over a store.
func (s *store) shared(t testing.TB) *adkdb.Service {
	t.Helper()
	service, err := adkdb.New(s.sessions, s.pool(t))
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// onShared runs a test over each engine, and over PostgreSQL with and without the tables of adkdb.Install.
func onShared(t *testing.T, f func(t *testing.T, service func(t *testing.T) *adkdb.Service)) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) { f(t, func(t *testing.T) *adkdb.Service { return newStore(t, e).shared(t) }) })
	}
	t.Run(postgreSQL.name+" with tables", func(t *testing.T) {
		f(t, func(t *testing.T) *adkdb.Service {
			_, _, service := installed(t)
			return service
		})
	})
}

func TestContractsOfSharedDatabases(t *testing.T) {
	onShared(t, func(t *testing.T, service func(t *testing.T) *adkdb.Service) {
		compactiontest.RunOptional(t, func(t *testing.T) session.Service { return service(t) })
	})
}

func TestADKsSuitePassesOnSharedDatabases(t *testing.T) {
	onShared(t, func(t *testing.T, service func(t *testing.T) *adkdb.Service) {
		sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service { return service(t) })
	})
}

func TestCompactionOverSharedDatabases(t *testing.T) {
	onShared(t, func(t *testing.T, inner func(t *testing.T) *adkdb.Service) {
		compactiontest.Run(t, func(t *testing.T) session.Service {
			cfg := compaction.DefaultConfig()
			cfg.Summarizer, cfg.Synchronous = &compactiontest.Oracle{}, true
			service, err := compaction.NewCompactionService(inner(t), cfg)
			if err != nil {
				t.Fatal(err)
			}
			return service
		})
	})
}
