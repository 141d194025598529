//go:build !race

package storages

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite" // the driver

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"
)

// Database is ADK's database service on a SQLite file of the test's own.
func Database(t testing.TB) Storage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	return Storage{
		Name: "database",
		open: func(t testing.TB) session.Service { t.Helper(); return OpenDatabase(t, path, true) },
		anew: Database,
	}
}

// OpenDatabase opens ADK's database service on a file. Only with foreign keys does the service delete the
// events of a session together with it.
//
// The driver is modernc's, handed to gorm as a connection: glebarez/sqlite registers the same driver name,
// and a binary with both panics when it starts.
func OpenDatabase(t testing.TB, path string, foreignKeys bool) session.Service {
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

// All are all storages that sessions of one process may lie in, each empty.
func All(t testing.TB) []Storage {
	t.Helper()
	return []Storage{InMemory(), Database(t), Persistence(t)}
}
