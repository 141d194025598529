package compaction_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"
)

// backend makes an inner session service. Each has its own way to store events; see the tests of
// package integration_test that pin ADK's behaviour.
type backend struct {
	name string
	make func(t *testing.T) session.Service
}

func backends() []backend {
	return []backend{
		{"inmemory", func(*testing.T) session.Service { return session.InMemoryService() }},
		{"database", newDatabaseService},
	}
}

// eachBackend runs f over every inner service.
func eachBackend(t *testing.T, f func(t *testing.T, inner session.Service)) {
	t.Helper()
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			f(t, b.make(t))
		})
	}
}

// newDatabaseService returns ADK's own database service on a SQLite file. The driver is modernc's,
// handed to gorm as a connection: glebarez/sqlite registers the same driver name and panics beside it.
func newDatabaseService(t *testing.T) session.Service {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)", path))
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
