package databases_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
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
