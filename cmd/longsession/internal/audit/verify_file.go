package audit

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// checkFile checks what belongs to no session: that the write-ahead log is there, that the schema is
// the one that persistence creates, that the file has one identity, and that SQLite's own checks of
// pages, indexes and foreign keys find nothing. A trigger that another program left in the file is a
// finding too, because it would run inside the transactions of the app.
func (f *File) checkFile(ctx context.Context) (found []Finding, err error) {
	if missing := f.Incomplete(); missing != nil {
		found = append(found, Finding{Rule: RuleLog, Text: missing.Error()})
	}
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		differences, err := sessionfile.Differences(ctx, snap)
		for _, d := range differences {
			found = append(found, Finding{Rule: RuleSchema, Text: differenceText(d)})
		}
		if err != nil {
			return err
		}
		if text, err := identityText(ctx, snap); err != nil {
			return err
		} else if text != "" {
			found = append(found, Finding{Rule: RuleSchema, Text: text})
		}
		var said string
		err = answers(ctx, snap, "integrity_check", "PRAGMA integrity_check", nil, []any{&said}, func() {
			if said != "ok" {
				found = append(found, Finding{Rule: RuleIntegrity, Text: said + ": restore a backup, or recover what is left with the .recover command of the sqlite3 shell"})
			}
		})
		if err != nil {
			return err
		}
		erasing, err := sessionsBeingErased(ctx, snap)
		if err != nil {
			return err
		}
		var table, parent string
		var row sql.NullInt64
		var key int
		return answers(ctx, snap, "foreign_key_check", "PRAGMA foreign_key_check", nil, []any{&table, &row, &parent, &key}, func() {
			if erasing && (parent == "sessions" || parent == "search_sessions") {
				return // rows of a session that was deleted just now; verify looks at the others through their sessions
			}
			text := fmt.Sprintf("a row of table %s", table)
			if row.Valid {
				text = fmt.Sprintf("row %d of table %s", row.Int64, table)
			}
			found = append(found, Finding{Rule: RuleForeignKey, Text: text + " refers to a missing row of table " + parent})
		})
	})
	if err != nil && !stop(ctx, err) {
		found = append(found, Finding{Rule: RuleIntegrity, Text: "the check itself failed: " + err.Error()})
		err = nil
	}
	return found, err
}

// sessionsBeingErased reports whether some sessions were deleted whose rows are not all erased yet.
func sessionsBeingErased(ctx context.Context, snap *persistence.Snapshot) (some bool, err error) {
	var known bool
	err = answers(ctx, snap, "erasing", "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'erasing')", nil, []any{&known}, func() {})
	if err == nil && known {
		err = answers(ctx, snap, "erasing", "SELECT EXISTS (SELECT 1 FROM erasing)", nil, []any{&some}, func() {})
	}
	return some, err
}

// identityText describes what is wrong with the identity by which a seal finds its file. It is
// empty if the identity is fine: the table identity has one row, with an ID that was made at random
// when the file was created.
func identityText(ctx context.Context, snap *persistence.Snapshot) (text string, err error) {
	var n, named int
	err = answers(ctx, snap, "identity", "SELECT count(*), coalesce(sum(length(id) > 0), 0) FROM identity", nil, []any{&n, &named}, func() {})
	if err != nil || n == 1 && named == 1 {
		return "", err
	}
	return fmt.Sprintf("table identity must have one row with the ID of the file, but has %d rows, %d with an ID: it was changed, and no seal can be matched with this file", n, named), nil
}

// differenceText describes a difference from the schema, with the statement that mends it.
func differenceText(d sessionfile.Difference) string {
	what := d.Kind + " " + d.Name
	switch {
	case d.SQL == "":
		return fmt.Sprintf("%s does not belong in a session file: find out who created it, and DROP it", what)
	case d.Missing:
		return what + " is missing, and apps may not be able to use the file: on a copy of the file, run: " + d.SQL
	}
	return what + " is not as persistence creates it, which is: " + d.SQL
}

// answers runs a query about a table. For each row it scans the columns into the variables of to and
// calls take, which must copy what it keeps.
func answers(ctx context.Context, snap *persistence.Snapshot, table, question string, args, to []any, take func()) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("table %s: %w", table, err)
		}
	}()
	rows, err := snap.Query(ctx, question, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		take()
	}
	return rows.Err()
}
