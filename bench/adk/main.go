// Command adk runs a job with ADK's session/database on github.com/glebarez/sqlite.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"

	"github.com/adk-go-ext/longsession/bench/workload"
)

// tuned is the best setup available to a user of the service: a single connection, which never
// meets a lock, and statements that are prepared once. The usual setup is a pool of connections, as
// gorm opens it.
const tuned = "tuned"

func main() {
	os.Exit(workload.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr, open))
}

func open(_ context.Context, job workload.Job) (session.Service, func() error, error) {
	db, err := sql.Open(sqlite.DriverName, source(job))
	if err != nil {
		return nil, nil, err
	}
	cfg := &gorm.Config{Logger: logger.Discard} // logging every failure to the terminal would cost time
	switch job.Variant {
	case "":
	case tuned:
		db.SetMaxOpenConns(1)
		cfg.PrepareStmt = true
	default:
		return nil, nil, fmt.Errorf("unknown variant %q", job.Variant)
	}
	svc, err := database.NewSessionService(sqlite.Dialector{Conn: db}, cfg)
	if err != nil {
		return nil, nil, err
	}
	if err := database.AutoMigrate(svc); err != nil {
		return nil, nil, err
	}
	return svc, db.Close, nil
}

// source uses the same settings as the other side: WAL, foreign keys, and ten seconds of waiting
// for a lock.
func source(job workload.Job) string {
	pragmas := url.Values{"_pragma": {
		"journal_mode(WAL)", "synchronous(" + job.Mode + ")", "foreign_keys(1)", "busy_timeout(10000)",
	}}
	return job.Path + "?" + pragmas.Encode()
}
