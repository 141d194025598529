// Package adkdb makes package compaction good at several processes over ADK's database session service, on PostgreSQL
// and, as far as their SQL allows, on MySQL and MariaDB.
//
//	inner, err := database.NewSessionService(gormpostgres.Open(dsn))
//	...
//	db, err := sql.Open("pgx", dsn)
//	...
//	service, err := adkdb.New(inner, db)
//	...
//	stack, err := longsession.New(service, cfg)
//
// A [Service] passes every call of session.Service on to ADK's own service, and adds what compaction asks an inner service
// for:
//
//   - [Service.AppendRecord] stores a compaction record by one INSERT. ADK's append writes the whole session row, so that a
//     record which is appended beside another process's turn takes back the state which that turn sets.
//   - [Service.Lease] lets one of several processes at a time compact a session.
//   - [Service.Records] reads the records without the other events.
//   - [Service.GetActive] loads what the view shows, however long the history is. That needs PostgreSQL and the tables
//     of [Install]. [Verify] compares them with the events, and [Uninstall] removes them.
//
// The package imports no driver and no ORM. Any database/sql driver for the same database does.
package adkdb
