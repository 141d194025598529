package adkdb_test

import (
	"context"
	"database/sql"
	"log"

	"gorm.io/gorm"

	"google.golang.org/adk/model"
	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession"
	"github.com/adk-go-ext/longsession/compactiontest"
	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// gormpostgres stands for package gorm.io/driver/postgres, which registers the driver "pgx", too. Importing it here would
// raise the versions of pgx in every app that requires this module.
var gormpostgres struct {
	Open func(dsn string) gorm.Dialector
}

// Any number of processes may do the same over one database. One of them, or a job before all of them, has created the
// tables with database.AutoMigrate.
func ExampleNew() {
	const dsn = "host=localhost user=app dbname=agents"
	sessions, err := database.NewSessionService(gormpostgres.Open(dsn))
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	shared, err := adkdb.New(sessions, db)
	if err != nil {
		log.Fatal(err)
	}
	llm := compactiontest.NewModel("scripted", func(int, *model.LLMRequest) *model.LLMResponse { return compactiontest.Say("Noted.") })
	stack, err := longsession.New(shared, longsession.Config{Model: llm})
	if err != nil {
		log.Fatal(err)
	}
	defer stack.Close(context.Background())
	// The runner gets stack.Sessions as its session service.
}

// A job that runs before the app, once for each version of it, prepares the database. Without it everything works, but
// sessions are loaded whole.
func ExampleInstall() {
	ctx := context.Background()
	db, err := sql.Open("pgx", "host=localhost user=owner dbname=agents")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := adkdb.Install(ctx, db); err != nil {
		log.Fatal(err)
	}
	found, err := adkdb.Verify(ctx, db) // it reads every event, so not every job needs it
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		log.Print(f)
	}
}
