package sessionfile

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAnOlderFileIsNotReadAsItIs(t *testing.T) {
	t.Parallel()
	if err := checkVersion(3, 3, 4); err != nil {
		t.Error(err)
	}
	if err := checkVersion(2, 3, 4); !errors.Is(err, ErrOlderSchema) || !strings.Contains(err.Error(), "user_version is 2, this program reads 3 to 4") {
		t.Errorf("older: %v", err)
	}
	if err := checkVersion(0, 3, 4); !errors.Is(err, ErrForeignFile) {
		t.Errorf("empty: %v", err)
	}
}

// A failed migration is rolled back completely.
func TestAMigrationThatFailsLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := Migrate(ctx, conn, time.Time{}); err != nil {
		t.Fatal(err)
	}
	steps, err := Migrations()
	if err != nil {
		t.Fatal(err)
	}
	steps = append(steps, "CREATE TABLE half (x); CREATE TABLE half (x)")
	if _, err := step(ctx, conn, steps); err == nil {
		t.Fatal("the migration succeeded")
	}
	var tables, version int
	if err := conn.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM sqlite_schema WHERE name = 'half'), user_version FROM pragma_user_version").Scan(&tables, &version); err != nil {
		t.Fatal(err)
	}
	if tables != 0 || version != len(steps)-1 {
		t.Errorf("%d tables left, version %d", tables, version)
	}
	steps[len(steps)-1] = "CREATE TABLE half (x)"
	if done, err := step(ctx, conn, steps); done || err != nil {
		t.Fatalf("%v, %v", done, err)
	}
	if err := conn.QueryRowContext(ctx, "SELECT user_version FROM pragma_user_version").Scan(&version); err != nil || version != len(steps) {
		t.Errorf("version %d after the step, %v", version, err)
	}
}
