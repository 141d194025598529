package databases_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// appOver returns an app with connections of an account of its own, ADK's and ours, and other settings.
func appOver(t *testing.T, s *store, user, settings string, bare bool) *app {
	t.Helper()
	db := openPool(t, s.engine, s.engine.dsn(s.dir, s.name, user)+settings)
	inner, err := overDatabase(s.engine.dialector(db))
	if err != nil {
		t.Fatal(err)
	}
	if !bare {
		inner = around(t, inner, db)
	}
	a, err := newApp(inner, bare, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.compacting != nil {
		t.Cleanup(func() { _ = a.compacting.Close(context.WithoutCancel(t.Context())) })
	}
	return a
}

// faultyTurn is a turn that the server does not let happen.
type faultyTurn struct {
	engine *engine
	// settings are those of the connections of the turn.
	settings string
	text     string
	// around runs the turn in a state of the server. If nil, the turn is just run.
	around func(t *testing.T, s *store, turn func() error) error
	// answering runs while the model answers.
	answering func(t *testing.T, s *store)
	// code is the error's: PostgreSQL's SQLSTATE or MariaDB's number. If it is empty, any error of a connection will do, and
	// none, because the driver may have noticed in time.
	code string
}

var faultyTurns = map[string]faultyTurn{
	"a NUL in the text":          {engine: &postgreSQL, text: "one\x00two", code: "22P05"},
	"a server that is read-only": {engine: &postgreSQL, settings: " default_transaction_read_only=on", code: "25006"},
	"MariaDB, read-only":         {engine: &mariaDB, settings: "&tx_read_only=1", code: "1792"},
	"a statement that takes too long": {
		engine: &postgreSQL, settings: " statement_timeout=100", code: "57014",
		around: whileLocked("LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE"),
	},
	"a statement that waits too long": {
		engine: &mariaDB, settings: "&innodb_lock_wait_timeout=1", code: "1205",
		around: whileLocked("SELECT * FROM sessions FOR UPDATE"),
	},
	"strict transactions that meet": {
		engine: &postgreSQL, settings: " default_transaction_isolation=serializable", code: "40001",
		around: func(t *testing.T, s *store, turn func() error) error {
			other := s.begin(t, "UPDATE sessions SET state = state")
			failed := make(chan error, 1)
			go func() { failed <- turn() }()
			s.awaitWaiting(t, 1)
			if err := other.Commit(); err != nil {
				t.Error(err)
			}
			return <-failed
		},
	},
	"connections that are cut":          {engine: &postgreSQL, answering: cutAll},
	"connections that are cut, MariaDB": {engine: &mariaDB, answering: cutAll},
}

// begin runs a statement in a transaction that stays open.
func (s *store) begin(t *testing.T, statement string) (tx interface {
	Commit() error
	Rollback() error
}) {
	t.Helper()
	open, err := s.pool(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return open
}

// whileLocked runs a turn while a transaction of somebody else has run a statement.
func whileLocked(statement string) func(*testing.T, *store, func() error) error {
	return func(t *testing.T, s *store, turn func() error) error {
		other := s.begin(t, statement)
		defer func() { _ = other.Rollback() }()
		return turn()
	}
}

// faultyUser is the account of the turns that fail.
var faultyUser = processUsers[0]

// cutAll ends all connections of that account.
func cutAll(t *testing.T, s *store) {
	user := faultyUser
	for n := 1; n > 0; n = number(t, s.admin, fmt.Sprintf(s.engine.connections, s.name, user)) {
		rows, err := s.admin.Query(strings.TrimSuffix(fmt.Sprintf(s.engine.connection, s.name, user), " LIMIT 1"))
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			all = append(all, id)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		for _, id := range all {
			_, _ = s.admin.Exec(fmt.Sprintf(s.engine.cut, id)) // it may have ended by itself
		}
	}
}

// TestATurnThatTheServerRefusesFailsAsWithADKAlone, with the server's error, and takes nothing with it: the turns before it and
// after it are whole, and are summarized.
func TestATurnThatTheServerRefusesFailsAsWithADKAlone(t *testing.T) {
	for name, c := range faultyTurns {
		for _, bare := range []bool{true, false} {
			way := "compacted"
			if bare {
				way = "ADK alone"
			}
			t.Run(name+"/"+way, func(t *testing.T) { takeFaultyTurns(t, c, bare) })
		}
	}
}

func takeFaultyTurns(t *testing.T, c faultyTurn, bare bool) {
	t.Helper()
	ctx := t.Context()
	s := newStore(t, c.engine)
	if !bare && c.engine == &postgreSQL {
		if err := adkdb.Install(ctx, s.pool(t)); err != nil {
			t.Fatal(err)
		}
	}
	sound, faulty := appOver(t, s, s.engine.adminUser, "", bare), appOver(t, s, faultyUser, c.settings, bare)
	const id = "s"
	createSession(ctx, t, s.sessions, id)
	found := tally{turns: 30}
	var acknowledged []int
	for turn := range found.turns {
		if turn%10 == 9 {
			err := c.take(t, s, faulty, id, turn)
			switch {
			case c.code == "" && err != nil && !isOutage(err.Error()):
				t.Errorf("turn %d: %v; want an error of the connection", turn, err)
			case c.code != "" && errorCode(err) != c.code:
				t.Errorf("turn %d: %v; want the error %s", turn, err, c.code)
			}
			if err == nil {
				acknowledged = append(acknowledged, turn)
			}
			continue
		}
		if err := sound.take(ctx, id, turn); err != nil {
			t.Errorf("turn %d failed: %v", turn, err)
			continue
		}
		found.lostFacts += missing(sound.facts, acknowledged)
		acknowledged = append(acknowledged, turn)
	}
	if !bare {
		if err := sound.compacting.Flush(ctx, refTo(id)); err != nil {
			t.Error(err)
		}
	}
	found.add(inspect(ctx, t, s.sessions, id, acknowledged))
	found.mustBeClean(t)
	if !bare && found.records == 0 { // how many depends on how fast the machine is
		t.Errorf("%d summaries are stored of %d turns; failures: %q", found.records, found.turns, sound.seen.failures())
	}
	if !bare && c.engine == &postgreSQL {
		mustVerify(t, s.pool(t))
	}
}

// errorCode is the code of a server's error, wherever it is wrapped.
func errorCode(err error) string {
	if err == nil {
		return ""
	}
	var number int
	if _, after, found := strings.Cut(err.Error(), "Error "); found {
		_, _ = fmt.Sscanf(after, "%d ", &number)
	}
	if number != 0 { // of MariaDB, whose driver has no method for it
		return strconv.Itoa(number)
	}
	return sqlState(err)
}

// take takes the turn that the server does not let happen.
func (c faultyTurn) take(t *testing.T, s *store, a *app, id string, turn int) error {
	if c.answering != nil {
		a.asked = func() { c.answering(t, s) }
		defer func() { a.asked = nil }()
	}
	run := func() error {
		if c.text != "" {
			return a.say(t.Context(), id, turn, c.text)
		}
		return a.take(t.Context(), id, turn)
	}
	if c.around != nil {
		return c.around(t, s, run)
	}
	return run()
}
