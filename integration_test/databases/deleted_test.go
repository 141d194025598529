package databases_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// TestASessionThatIsDeletedMeanwhileKeepsNoOtherBack: apps delete sessions while all of them are copied or audited.
func TestASessionThatIsDeletedMeanwhileKeepsNoOtherBack(t *testing.T) {
	for name, args := range map[string][]string{
		"import":     {"import", filepath.Join(t.TempDir(), "new.db")},
		"audit list": {"audit", "list"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, &postgreSQL)
			for _, id := range []string{"one", "three", "two"} {
				createSession(t.Context(), t, s.sessions, id)
			}
			// The command has its list, and waits with the first session.
			gate, err := s.pool(t).BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = gate.Rollback() }()
			if _, err := gate.ExecContext(t.Context(), "LOCK TABLE app_states IN ACCESS EXCLUSIVE MODE"); err != nil {
				t.Fatal(err)
			}
			cmd := prepared(t, append(args, "--dsn", s.dsn())...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			db := s.pool(t)
			for number(t, db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0 {
				select {
				case err := <-ended:
					t.Fatalf("the command has ended: %v\n%s%s", err, &out, &errs)
				default:
				}
			}
			s.exec(t, "DELETE FROM sessions WHERE id = 'three'")
			if err := gate.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil || !strings.Contains(out.String(), "one") || !strings.Contains(out.String(), "two") {
				t.Errorf("%v\n%s%s", err, &out, &errs)
			}
		})
	}
}

// TestVerifyHarmsNobodyWhoDeletesASession: of two transactions that wait for each other, the server ends either.
func TestVerifyHarmsNobodyWhoDeletesASession(t *testing.T) {
	s, db, service := installed(t)
	talked(t, service, 6, "one")
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	await := func(n int) {
		for number(t, db, waiting) < n {
		}
	}
	// Verify stops in the middle, with its locks.
	gate, err := s.pool(t).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gate.Rollback() }()
	if _, err := gate.ExecContext(t.Context(), "LOCK TABLE longsession_calls IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	var found []adkdb.Finding
	verified, deleted := make(chan error, 1), make(chan error, 1)
	go func() {
		var err error
		found, err = adkdb.Verify(t.Context(), db)
		verified <- err
	}()
	await(1)
	go func() {
		deleted <- s.sessions.Delete(t.Context(), &session.DeleteRequest{AppName: appName, UserID: userID, SessionID: "one"})
	}()
	await(2)
	if err := gate.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-deleted; err != nil {
		t.Error(err)
	}
	if err := <-verified; err != nil || len(found) > 0 {
		t.Error(err, found)
	}
}
