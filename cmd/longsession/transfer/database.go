package transfer

import (
	"context"
	"database/sql"
	_ "embed" // of the tables
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"google.golang.org/genai"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// tables creates the tables of ADK's database service, as its AutoMigrate does.
//
//go:embed tables.sql
var tables string

// tested is the version of ADK whose tables these are.
var tested = map[int]string{1: "v1.7.0", 2: "v2.2.0"}[adk.Major]

// ErrNoTables marks a database without the tables of ADK's database service.
var ErrNoTables = errors.New("the database has no tables of ADK's session service")

// ErrReadOnlyDatabase marks a database that cannot be written to: a replica, or a role or transaction that may only read.
var ErrReadOnlyDatabase = errors.New("the database can only be read")

// furtherTypes are the types of the columns that only the table events of ADK v2 has, by their names.
var furtherTypes = func() (types []columnType) {
	if adk.Major == 1 {
		return nil
	}
	for _, c := range adk.FurtherColumns {
		types = append(types, columnType{c.Column, "jsonb"})
	}
	return append(types, columnType{"isolation_scope", "text"})
}()

type columnType struct{ name, of string }

// madeTables is the SQL that creates the tables of this major of ADK.
func madeTables() string {
	all := tables
	for _, c := range furtherTypes {
		all = strings.Replace(all, "\tbranch text,\n", "\tbranch text,\n\t"+c.name+" "+c.of+",\n", 1)
	}
	return all
}

// columns are the columns of ADK's tables that a copy reads and writes.
var columns = map[string][]string{
	"sessions":    {"app_name", "user_id", "id", "state", "create_time", "update_time"},
	"events":      allEventColumns,
	"app_states":  {"app_name", "state", "update_time"},
	"user_states": {"app_name", "user_id", "state", "update_time"},
}

var eventColumns = []string{
	"id", "app_name", "user_id", "session_id", "invocation_id", "author", "branch", "error_code", "error_message", "timestamp",
	"actions", "long_running_tool_ids_json", "content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata",
	"partial", "turn_complete", "interrupted",
}

// allEventColumns are eventColumns and those of furtherTypes, in their order.
var allEventColumns = func() []string {
	all := slices.Clone(eventColumns)
	for _, c := range furtherTypes {
		all = append(all, c.name)
	}
	return all
}()

// columnTypes are the types of eventColumns. Each parameter is cast to its own, so that no statement has to be prepared:
// a pooler such as PgBouncer may give each transaction another connection.
var columnTypes = []string{
	"text", "text", "text", "text", "text", "text", "text", "text", "text", "timestamptz",
	"bytea", "jsonb", "jsonb", "jsonb", "jsonb", "jsonb", "jsonb",
	"boolean", "boolean", "boolean",
}

// database is a PostgreSQL database of ADK's session/database service.
type database struct {
	db    *sql.DB
	where string
}

// OpenDatabase opens the database that dsn names: a URL as postgres://user@host/name, or key=value pairs. What it leaves
// out comes from the usual variables (PGPASSWORD and others) and from ~/.pgpass. Errors do not have the password.
//
// With write, the database must not be read-only, and with create, missing tables are created as ADK's AutoMigrate creates
// them. Without write, every transaction is one that can only read.
func OpenDatabase(ctx context.Context, dsn string, write, create bool) (Store, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, unreadable(err)
	}
	if cfg.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // prepared statements do not survive a pooler
	}
	d := &database{db: stdlib.OpenDB(*cfg), where: "database " + net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))) + "/" + cfg.Database}
	if strings.HasPrefix(cfg.Host, "/") {
		d.where = "database " + cfg.Database + " at " + cfg.Host
	}
	if err := d.check(ctx, write, create); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", d.where, err), d.db.Close())
	}
	return d, nil
}

// unreadable is the error of a DSN that is not understood. The driver's own text repeats it, and hides the password only where it
// recognizes one.
func unreadable(err error) error {
	var address *url.Error
	cause := errors.Unwrap(err)
	if cause == nil || errors.As(err, &address) {
		return errors.New("the DSN cannot be read: it is not a URL; write special characters of a password as %25 for a percent sign, or leave the password to PGPASSWORD or ~/.pgpass")
	}
	return fmt.Errorf("the DSN cannot be read: write postgres://user@host/name, or key=value pairs: %w", cause)
}

// check looks at what the server is and has before any work.
func (d *database) check(ctx context.Context, write, create bool) error {
	var readOnly bool
	if err := d.db.QueryRowContext(ctx, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean").Scan(&readOnly); err != nil {
		return err
	}
	if write && readOnly {
		return fmt.Errorf("%w: name the primary server, and a role that may write", ErrReadOnlyDatabase)
	}
	missing, all, err := d.missing(ctx)
	switch {
	case err != nil:
		return err
	case all && write && create:
		_, err := d.db.ExecContext(ctx, madeTables())
		return err
	case all:
		return fmt.Errorf("%w: create them once with its AutoMigrate, or with longsession export --create-tables", ErrNoTables)
	case len(missing) > 0:
		return fmt.Errorf("the tables are not those of ADK Go %s: there is no %s", tested, strings.Join(missing, ", "))
	}
	return nil
}

// missing returns the columns that the tables do not have, and whether there is none of the tables.
func (d *database) missing(ctx context.Context) (missing []string, all bool, err error) {
	rows, err := d.db.QueryContext(ctx, `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ANY (current_schemas(false))`)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	found := map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, false, err
		}
		found[table+"."+column] = true
		found[table] = true
	}
	all = true
	for table, names := range columns {
		all = all && !found[table]
		for _, name := range names {
			if !found[table+"."+name] {
				missing = append(missing, table+"."+name)
			}
		}
	}
	slices.Sort(missing)
	return missing, all, rows.Err()
}

func (d *database) Where() string { return d.where }

func (d *database) Close() error { return d.db.Close() }

func (d *database) Choose(ctx context.Context, which Which) (names []Name, err error) {
	err = d.reading(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT app_name, user_id, id FROM sessions WHERE ($1::text = '' OR app_name = $1::text) AND ($2::text = '' OR user_id = $2::text)", which.App, which.User)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n Name
			if err := rows.Scan(&n.App, &n.User, &n.ID); err != nil {
				return err
			}
			names = append(names, n)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("%s: list the sessions: %w", d.where, err)
	}
	return which.choose(names, "the "+d.where)
}

// reading calls do in a transaction that sees one state and cannot write.
func (d *database) reading(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	err = do(tx)
	if ended := tx.Rollback(); err == nil && !errors.Is(ended, sql.ErrTxDone) {
		err = ended
	}
	return err
}

// writing calls do in a transaction and commits it.
func (d *database) writing(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // err is the cause
		return err
	}
	return tx.Commit()
}

func (d *database) read(ctx context.Context, name Name, do func(*reading) error) (found bool, err error) {
	err = d.reading(ctx, func(tx *sql.Tx) error {
		h, err := headerOf(ctx, tx, name)
		if err != nil || h == nil {
			return err
		}
		found = true
		r := &reading{header: *h, lost: Losses{}}
		if err := countUnknown(ctx, tx, name, r.lost); err != nil {
			return err
		}
		r.events = d.events(ctx, tx, name, r.lost)
		return do(r)
	})
	return found, d.explain("read", name, err)
}

func (d *database) explain(what string, name Name, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s session %q: %w", d.where, what, name, err)
}

// headerOf returns nil if there is no such session.
func headerOf(ctx context.Context, tx *sql.Tx, name Name) (*header, error) {
	h := &header{Name: name, state: map[string]any{}}
	var own []byte
	var created, updated sql.NullTime
	err := tx.QueryRowContext(ctx, "SELECT state, create_time, update_time FROM sessions WHERE app_name = $1::text AND user_id = $2::text AND id = $3::text", name.App, name.User, name.ID).Scan(&own, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.created, h.updated = created.Time.UTC(), updated.Time.UTC()
	add := func(prefix string, text []byte) error {
		if len(text) == 0 {
			return nil
		}
		var state map[string]any
		if err := decode(text, &state); err != nil {
			return fmt.Errorf("its state cannot be read: %w", err)
		}
		for key, value := range state {
			h.state[prefix+key] = value
		}
		return nil
	}
	if err := add("", own); err != nil {
		return nil, err
	}
	for _, others := range []struct {
		prefix, query string
		args          []any
	}{
		{session.KeyPrefixApp, "SELECT state FROM app_states WHERE app_name = $1::text", []any{name.App}},
		{session.KeyPrefixUser, "SELECT state FROM user_states WHERE app_name = $1::text AND user_id = $2::text", []any{name.App, name.User}},
	} {
		var text []byte
		if err := tx.QueryRowContext(ctx, others.query, others.args...).Scan(&text); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if err := add(others.prefix, text); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// countUnknown counts the values of the columns that only the table events of another version of ADK has.
func countUnknown(ctx context.Context, tx *sql.Tx, name Name, lost Losses) error {
	rows, err := tx.QueryContext(ctx, "SELECT attname FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 AND NOT attisdropped")
	if err != nil {
		return err
	}
	defer rows.Close()
	var unknown []string
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return err
		}
		if !slices.Contains(allEventColumns, column) {
			unknown = append(unknown, column)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, column := range unknown {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(nullif("+pgx.Identifier{column}.Sanitize()+"::text, '')) FROM events WHERE app_name = $1::text AND user_id = $2::text AND session_id = $3::text",
			name.App, name.User, name.ID).Scan(&n); err != nil {
			return err
		}
		lost.count("values of the column "+column+notKnown, n)
	}
	return nil
}

// events yields the events in the order in which ADK's service reads them, by time. It leaves events of one time in the
// order in which they were stored, with records behind the others. It counts those with fields that are unknown.
func (d *database) events(ctx context.Context, tx *sql.Tx, name Name, lost Losses) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		rows, err := tx.QueryContext(ctx, "SELECT "+strings.Join(allEventColumns, ", ")+` FROM events
			WHERE app_name = $1::text AND user_id = $2::text AND session_id = $3::text ORDER BY "timestamp", ctid`, name.App, name.User, name.ID)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		var same []*row // of one time
		flush := func() bool {
			slices.SortStableFunc(same, func(a, b *row) int {
				switch {
				case a.record == b.record:
					return 0
				case a.record:
					return 1
				}
				return -1
			})
			for _, r := range same {
				ev, err := r.event()
				if r.unknown {
					lost.count(lostUnknown, 1)
				}
				if !yield(ev, err) || err != nil {
					return false
				}
			}
			same = same[:0]
			return true
		}
		for rows.Next() {
			r, err := scanRow(rows)
			if err != nil {
				yield(nil, err)
				return
			}
			if len(same) > 0 && !r.time.Equal(same[0].time) && !flush() {
				return
			}
			same = append(same, r)
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
			return
		}
		flush()
	}
}

func scanRow(rows *sql.Rows) (*row, error) {
	r := &row{}
	var app, user, id string
	var invocation, author, branch, code, message sql.NullString
	var at sql.NullTime
	var partial, complete, interrupted sql.NullBool
	into := []any{&r.id, &app, &user, &id, &invocation, &author, &branch, &code, &message, &at,
		&r.actions, &r.longRunning, &r.content, &r.grounding, &r.custom, &r.usage, &r.cited, &partial, &complete, &interrupted}
	var scope sql.NullString
	if furtherTypes != nil {
		r.further = make([][]byte, len(adk.FurtherColumns))
		for i := range r.further {
			into = append(into, &r.further[i])
		}
		into = append(into, &scope)
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	r.invocation, r.author, r.branch, r.errorCode, r.errorMessage = invocation.String, author.String, branch.String, code.String, message.String
	r.scope, r.time = scope.String, at.Time.UTC()
	r.partial, r.turnComplete, r.interrupted = partial.Bool, complete.Bool, interrupted.Bool
	r.record = len(r.content) == 0 && isRecord(r.custom)
	return r, nil
}

func (d *database) create(ctx context.Context, of *header) error {
	_, err := d.db.ExecContext(ctx, "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) VALUES ($1::text, $2::text, $3::text, '{}', $4::timestamptz, $5::timestamptz)",
		of.App, of.User, of.ID, of.created, of.created)
	return d.explain("create", of.Name, err)
}

func (d *database) append(ctx context.Context, of *header, rows []*row) error {
	if len(rows) == 0 {
		return nil
	}
	var places []string
	var args []any
	for _, r := range rows {
		text := func(s string) any {
			if s == "" {
				return nil
			}
			return s
		}
		json := func(b []byte) any { return text(string(b)) }
		values := []any{r.id, of.App, of.User, of.ID, r.invocation, r.author, text(r.branch), text(r.errorCode), text(r.errorMessage), r.time,
			r.actions, json(r.longRunning), json(r.content), json(r.grounding), json(r.custom), json(r.usage), json(r.cited),
			r.partial, r.turnComplete, r.interrupted}
		types := columnTypes
		if furtherTypes != nil {
			for _, column := range r.further {
				values = append(values, json(column))
			}
			values = append(values, text(r.scope))
			for _, c := range furtherTypes {
				types = append(slices.Clip(types), c.of)
			}
		}
		row := make([]string, len(values))
		for i := range values {
			row[i] = "$" + strconv.Itoa(len(args)+i+1) + "::" + types[i]
		}
		places = append(places, "("+strings.Join(row, ", ")+")")
		args = append(args, values...)
	}
	return d.explain("append to", of.Name, d.writing(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO events ("+strings.Join(allEventColumns, ", ")+") VALUES "+strings.Join(places, ", "), args...); err != nil {
			return err
		}
		// An app that already uses the session must notice the copy as it notices any other append.
		_, err := tx.ExecContext(ctx, "UPDATE sessions SET update_time = greatest(update_time, $4::timestamptz) WHERE app_name = $1::text AND user_id = $2::text AND id = $3::text",
			of.App, of.User, of.ID, rows[len(rows)-1].time)
		return err
	}))
}

func (d *database) finish(ctx context.Context, of *header) error {
	return d.explain("set the state of", of.Name, d.writing(ctx, func(tx *sql.Tx) error {
		own, err := json.Marshal(of.part(false))
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE sessions SET state = $4::jsonb, update_time = greatest(update_time, $5::timestamptz) WHERE app_name = $1::text AND user_id = $2::text AND id = $3::text",
			of.App, of.User, of.ID, string(own), of.updated); err != nil {
			return err
		}
		forApp, forUser := map[string]any{}, map[string]any{}
		for key, value := range of.part(true) {
			if bare, is := strings.CutPrefix(key, session.KeyPrefixApp); is {
				forApp[bare] = value
			} else {
				forUser[strings.TrimPrefix(key, session.KeyPrefixUser)] = value
			}
		}
		if err := merge(ctx, tx, "app_states", "app_name", forApp, of.updated, of.App); err != nil {
			return err
		}
		return merge(ctx, tx, "user_states", "app_name, user_id", forUser, of.updated, of.App, of.User)
	}))
}

// merge adds the keys that a row of shared state does not have.
func merge(ctx context.Context, tx *sql.Tx, table, key string, state map[string]any, at time.Time, names ...any) error {
	if len(state) == 0 {
		return nil
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	places := "$1::jsonb, $2::timestamptz"
	args := []any{string(text), at}
	for i, name := range names {
		places += fmt.Sprintf(", $%d::text", i+3)
		args = append(args, name)
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (state, update_time, %s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET state = excluded.state || coalesce(%s.state, '{}')", table, key, places, key, table), args...)
	return err
}

// noColumn follows the name of what the tables cannot keep.
const noColumn = ", for which ADK's tables have no column"

func (d *database) losses(of *session.Event, in Losses) {
	if of.Timestamp.Nanosecond()%1000 != 0 {
		in.count(lostTime, 1)
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"finish reasons", of.FinishReason != ""}, {"model versions", of.ModelVersion != ""}, {"input transcriptions", of.InputTranscription != nil},
		{"output transcriptions", of.OutputTranscription != nil}, {"average log probabilities", of.AvgLogprobs != 0},
		{"log probabilities", of.LogprobsResult != nil}, {"session resumption handles", of.SessionResumptionHandle != ""},
	} {
		if field.set {
			in.count(field.name+noColumn, 1)
		}
	}
	if hasFractions(of) {
		in.count("durations cut to seconds", 1)
	}
	in.countScope(of)
	for _, f := range adk.FurtherFields {
		// The column actions has all of theirs.
		has := strings.HasPrefix(f.Name, "Actions.") || slices.ContainsFunc(adk.FurtherColumns, func(c adk.Column) bool { return c.Name == f.Name })
		if !has && !f.Of(of).IsZero() {
			in.count("values of the field "+f.Name+noColumn, 1)
		}
	}
}

// hasFractions reports whether an event has a duration that is not whole seconds, of a part of a video or of a route. genai
// writes whole seconds into JSON.
func hasFractions(ev *session.Event) bool {
	if ev.Content != nil {
		for _, p := range ev.Content.Parts {
			if p != nil && p.VideoMetadata != nil && (p.VideoMetadata.StartOffset%time.Second != 0 || p.VideoMetadata.EndOffset%time.Second != 0) {
				return true
			}
		}
	}
	if ev.GroundingMetadata == nil {
		return false
	}
	return slices.ContainsFunc(ev.GroundingMetadata.GroundingChunks, func(c *genai.GroundingChunk) bool {
		return c != nil && c.Maps != nil && c.Maps.Route != nil && c.Maps.Route.Duration%time.Second != 0
	})
}

func (d *database) refuses(r *row) string {
	for _, text := range r.texts() {
		if strings.Contains(*text, "\x00") {
			return "a NUL character"
		}
		if !utf8.ValidString(*text) {
			return "bytes that are not UTF-8"
		}
	}
	for _, column := range r.columns() {
		if column != &r.actions && hasNUL(*column) { // actions are bytes
			return "a NUL character"
		}
	}
	return ""
}
