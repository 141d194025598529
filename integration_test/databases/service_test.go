package databases_test

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"
)

// overDatabase returns ADK's service. Its tables must exist, because only one of several processes
// may create them.
func overDatabase(dialector gorm.Dialector) (session.Service, error) {
	return database.NewSessionService(dialector, &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)})
}

// migrated creates ADK's tables and returns its service.
func migrated(t testing.TB, dialector gorm.Dialector) session.Service {
	t.Helper()
	service, err := overDatabase(dialector)
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(service); err != nil {
		t.Fatal(err)
	}
	return service
}
