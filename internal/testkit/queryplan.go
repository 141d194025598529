package testkit

import (
	"context"
	"database/sql"
	"regexp"
	"strconv"
	"testing"
)

// QueryPlan returns the steps by which SQLite runs a query, whose parameters are all NULL.
func QueryPlan(t testing.TB, db *sql.DB, query string) (steps []string) {
	t.Helper()
	parameter := regexp.MustCompile(`\?(\d*)`)
	args := make([]any, 0, 20)
	for _, found := range parameter.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(found[1])
		if err != nil { // statement without numbered parameters
			n = len(args) + 1
		}
		args = args[:max(n, len(args))]
	}
	rows, err := db.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}
