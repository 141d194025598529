package adkdb

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// schemaVersion is the version of the tables that [Install] creates. A database with tables of another
// version is read as if there were none: every session is loaded whole. It is the major of ADK: the tables for v2 know
// isolation scopes.
const schemaVersion = adk.Major

//go:embed install.sql
var installSQL string

//go:embed grant.sql
var grantSQL string

// filled returns statements for a schema of ADK's tables.
func filled(statements, schema string) string {
	scopeOf := func(row string) string {
		if adk.Major == 1 {
			return "''"
		}
		return "coalesce(chr(31) || nullif(" + row + ".isolation_scope, ''), '')"
	}
	return strings.NewReplacer("{schema}", schema, "{version}", fmt.Sprint(schemaVersion), "{scope NEW}", scopeOf("NEW"), "{scope e}", scopeOf("e")).Replace(statements)
}

// eventsIndex is the index by which a session's events are found. ADK creates none for that: its
// primary key begins with the event's ID, so a Get reads the events of all sessions.
const eventsIndex = "longsession_events_by_time"

const (
	// lockTimeout is how long a statement that changes tables waits for its locks. It is shorter than
	// PostgreSQL's deadlock_timeout (1 s by default), so that Install and Uninstall give way and no
	// turn becomes the victim.
	lockTimeout = "200ms"
	// lockPause lets the turns that waited behind such a statement finish.
	lockPause = 300 * time.Millisecond
	// lockTries is enough for half a minute of transactions that never leave the tables alone.
	lockTries = 60
)

// ErrNoEvents marks a database without ADK's tables.
var ErrNoEvents = errors.New("the database has no table \"events\" of ADK")

// Install prepares a PostgreSQL database for [Service.GetActive]: it creates the index on ADK's table
// events, tables of its own whose names begin with longsession_, and the triggers that keep them,
// and fills the tables for sessions that exist already. It creates the table of [Service.Lease], too. It changes no stored
// event.
//
// Call it in one place, after ADK's AutoMigrate and before or while the app runs; every process of the
// app then uses the tables. The role needs the right to create tables in the schema of ADK's tables
// and must own those, or have the privileges TRIGGER, REFERENCES and SELECT on them. Roles that may read events
// may read the new tables. A role that is granted its rights on ADK's tables later stores records, and loads sessions whole
// until Install is called again. No other role needs a right to write them, because the triggers run with the rights of
// the role that installs.
//
// Appends wait for moments only: the index is created concurrently, and the tables are filled session by session. Those to one
// session wait while its own rows are made, about 6 s for 100,000 events.
// That costs about as much as reading all events once. Install can be repeated, for example after it
// was interrupted, and then continues; it does nothing if everything is done. Two calls at once take turns. Call it over a
// connection to the server itself, not through a pooler that hands out connections by transaction.
func Install(ctx context.Context, db *sql.DB) error {
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if err := changeTables(ctx, db, func(tx *sql.Tx) error {
		version, err := installedVersion(ctx, tx)
		if err != nil {
			return err
		}
		statements := grantSQL
		switch version {
		case schemaVersion:
		case 0:
			statements = installSQL + grantSQL
		default:
			return fmt.Errorf("the tables have version %d, and this version of the library knows %d: use the library that installed them, or remove them with its Uninstall", version, schemaVersion)
		}
		_, err = tx.ExecContext(ctx, filled(statements, schema))
		return err
	}); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	if err := alone(ctx, db, func(conn *sql.Conn) error { return createIndex(ctx, conn, schema) }); err != nil {
		return fmt.Errorf("install: create the index %s: %w", eventsIndex, err)
	}
	if err := fill(ctx, db, "pending"); err != nil {
		return fmt.Errorf("install: fill the tables: %w", err)
	}
	return nil
}

// Rebuild makes the rows of every session that is not loaded in part, because its records
// contradicted each other or because its events were changed or deleted, again from its events. Sessions
// whose records still contradict each other stay as they are.
func Rebuild(ctx context.Context, db *sql.DB) error {
	if err := fill(ctx, db, "conflicted"); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// Uninstall removes everything that [Install] created but the table of leases. Apps may be running: they go on, and load whole
// sessions from then on. It does nothing if nothing is installed.
func Uninstall(ctx context.Context, db *sql.DB) error {
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return fmt.Errorf("uninstall: %w", err)
	}
	err = changeTables(ctx, db, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, filled(uninstallSQL, schema))
		return err
	})
	if err != nil {
		return fmt.Errorf("uninstall: %w", err)
	}
	return nil
}

//go:embed uninstall.sql
var uninstallSQL string

// schemaOf returns the schema of ADK's tables, quoted.
func schemaOf(ctx context.Context, db *sql.DB) (string, error) {
	var server string
	if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&server); err != nil {
		return "", err
	}
	if !strings.HasPrefix(server, "PostgreSQL ") {
		return "", fmt.Errorf("the server is %q, and these tables need PostgreSQL: without them sessions are loaded whole", server)
	}
	var schema sql.NullString
	err := db.QueryRowContext(ctx, `SELECT (SELECT quote_ident(n.nspname) FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('events'))`).Scan(&schema)
	switch {
	case err != nil:
		return "", err
	case !schema.Valid:
		return "", fmt.Errorf("%w in the search_path: create it with database.AutoMigrate first", ErrNoEvents)
	case strings.ContainsAny(schema.String, `'\`):
		return "", fmt.Errorf("the schema %s has a quote or a backslash in its name: rename it", schema.String)
	}
	return schema.String, nil
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// besideEvents is a condition that the table which a name stands for is in the schema of ADK's events. With a search_path of two
// schemas, it may be another app's, whose sessions have the same names.
func besideEvents(table string) string {
	return `EXISTS (SELECT FROM pg_catalog.pg_class t JOIN pg_catalog.pg_class e ON e.relnamespace = t.relnamespace
		WHERE t.oid = to_regclass('` + table + `') AND e.oid = to_regclass('events'))`
}

// installedVersion returns the version of the tables, 0 if there are none.
func installedVersion(ctx context.Context, db queryer) (version int, err error) {
	var found bool
	if err := db.QueryRowContext(ctx, "SELECT "+besideEvents("longsession_schema")).Scan(&found); err != nil || !found {
		return 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM longsession_schema").Scan(&version)
	return version, err
}

// changeTables runs a function that creates or drops tables in a transaction. If the locks are not
// free for a moment, it rolls back and tries again.
func changeTables(ctx context.Context, db *sql.DB, change func(*sql.Tx) error) error {
	for try := 1; ; try++ {
		err := inTransaction(ctx, db, func(tx *sql.Tx) error {
			// The key is this module's own: the first 8 bytes of the SHA-256 of "longsession_schema".
			for _, prepare := range []string{"SET LOCAL lock_timeout = '" + lockTimeout + "'", "SELECT pg_advisory_xact_lock(hashtextextended('longsession_schema', 0))"} {
				if _, err := tx.ExecContext(ctx, prepare); err != nil {
					return err
				}
			}
			return change(tx)
		})
		if !hasState(err, lockNotAvailable, deadlockDetected, uniqueViolation) { // the last: an app creates the table of leases
			return err
		}
		if try == lockTries {
			return fmt.Errorf("transactions of others hold the tables without a pause: end them, see pg_stat_activity, and repeat the call: %w", err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return fmt.Errorf("%w while transactions of others hold the tables: %w", ctx.Err(), err)
		}
	}
}

// inTransaction runs a function in a transaction in which each statement sees what is committed.
func inTransaction(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// alone calls do on a connection while no other call of Install does the same: two that create one index concurrently wait
// for each other. It asks for the lock again and again, because whoever waits for a lock is in a transaction, which
// the creation of the index waits for.
func alone(ctx context.Context, db *sql.DB, do func(*sql.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for locked := false; !locked; {
		if err := conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(hashtextextended('"+eventsIndex+"', 0))").Scan(&locked); err != nil {
			return err
		}
		if locked {
			break
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return fmt.Errorf("%w while another call creates it", ctx.Err())
		}
	}
	defer func() {
		_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(hashtextextended('"+eventsIndex+"', 0))")
		err = errors.Join(err, unlockErr)
	}()
	return do(conn)
}

// createIndex creates the index on events without blocking appends. PostgreSQL leaves an invalid index
// behind if that is interrupted.
func createIndex(ctx context.Context, db *sql.Conn, schema string) error {
	var valid sql.NullBool
	err := db.QueryRowContext(ctx, `SELECT (SELECT i.indisvalid FROM pg_catalog.pg_index i
		WHERE i.indexrelid = to_regclass('`+schema+`.`+eventsIndex+`'))`).Scan(&valid)
	if err != nil || valid.Bool {
		return err
	}
	if valid.Valid {
		if _, err := db.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+schema+"."+eventsIndex); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, "CREATE INDEX CONCURRENTLY IF NOT EXISTS "+eventsIndex+" ON "+schema+
		".events (app_name, user_id, session_id, timestamp)")
	return err
}

// fill makes the rows of sessions again that have none or are in a state.
func fill(ctx context.Context, db *sql.DB, state string) error {
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return err
	}
	todo, err := sessionsOf(ctx, db, `SELECT s.app_name, s.user_id, s.id FROM `+schema+`.sessions s
		LEFT JOIN `+schema+`.longsession_sessions l ON l.app_name = s.app_name AND l.user_id = s.user_id AND l.session_id = s.id
		WHERE l.key IS NULL OR l.state IN ('pending', $1) ORDER BY 1, 2, 3`, state)
	if err != nil {
		return err
	}
	for _, s := range todo {
		if err := rebuild(ctx, db, schema, s); err != nil {
			return fmt.Errorf("session %q of user %q of app %q: %w", s[2], s[1], s[0], err)
		}
	}
	return nil
}

// sessionsOf returns the names that a query selects: app, user and ID.
func sessionsOf(ctx context.Context, db *sql.DB, query string, args ...any) (all [][3]string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s [3]string
		if err := rows.Scan(&s[0], &s[1], &s[2]); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// rebuildTries limits how often a rebuild that met other transactions is repeated.
const rebuildTries = 5

func rebuild(ctx context.Context, db *sql.DB, schema string, s [3]string) (err error) {
	for range rebuildTries {
		err = inTransaction(ctx, db, func(tx *sql.Tx) error {
			var state string
			return tx.QueryRowContext(ctx, "SELECT "+schema+".longsession_rebuild($1, $2, $3)", s[0], s[1], s[2]).Scan(&state)
		})
		if !hasState(err, deadlockDetected, serializationFailure) {
			return err
		}
	}
	return err
}

// SQLSTATE codes of PostgreSQL.
const (
	lockNotAvailable      = "55P03"
	deadlockDetected      = "40P01"
	serializationFailure  = "40001"
	uniqueViolation       = "23505"
	undefinedTable        = "42P01"
	undefinedColumn       = "42703"
	insufficientPrivilege = "42501"
)
