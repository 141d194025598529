package audit

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/adk-go-ext/longsession/persistence"
)

// checkFile asks SQLite whether the file is whole, and compares its schema.
func (f *File) checkFile(ctx context.Context) (found []Finding, err error) {
	if missing := f.Incomplete(); missing != nil {
		found = append(found, Finding{Rule: RuleLog, Text: missing.Error()})
	}
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		differences, err := snap.Differences(ctx)
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
		err = answers(ctx, snap, "PRAGMA integrity_check", func(rows *sql.Rows) error {
			var said string
			if err := rows.Scan(&said); err != nil {
				return err
			}
			if said != "ok" {
				found = append(found, Finding{Rule: RuleIntegrity, Text: said + ": restore a backup, or rescue what is left with the sqlite3 shell's .recover"})
			}
			return nil
		})
		if err != nil {
			return err
		}
		return answers(ctx, snap, "PRAGMA foreign_key_check", func(rows *sql.Rows) error {
			var table, parent string
			var row sql.NullInt64
			var key int
			if err := rows.Scan(&table, &row, &parent, &key); err != nil {
				return err
			}
			text := fmt.Sprintf("a row of table %s", table)
			if row.Valid {
				text = fmt.Sprintf("row %d of table %s", row.Int64, table)
			}
			found = append(found, Finding{Rule: RuleForeignKey, Text: text + " belongs to nothing in table " + parent})
			return nil
		})
	})
	if err != nil && !stop(ctx, err) {
		found = append(found, Finding{Rule: RuleIntegrity, Text: "the check itself fails: " + err.Error()})
		err = nil
	}
	return found, err
}

// identityText says what is wrong with the identity by which a seal knows its file, "" if nothing is.
func identityText(ctx context.Context, snap *persistence.Snapshot) (text string, err error) {
	var n, named int
	err = answers(ctx, snap, "SELECT count(*), coalesce(sum(length(id) > 0), 0) FROM identity", func(rows *sql.Rows) error {
		return rows.Scan(&n, &named)
	})
	if err != nil || n == 1 && named == 1 {
		return "", err
	}
	return fmt.Sprintf("table identity must have one row with the ID of the file, and has %d rows, %d with an ID: it was changed, and no seal can tell which file this is", n, named), nil
}

func differenceText(d persistence.Difference) string {
	what := d.Kind + " " + d.Name
	switch {
	case d.SQL == "":
		return fmt.Sprintf("%s does not belong in a session file: find out who made it, and DROP it", what)
	case d.Missing:
		return what + " is missing, and apps may not be able to use the file: on a copy of the file, run: " + d.SQL
	}
	return what + " is not as persistence makes it, which is: " + d.SQL
}

// answers calls take for every row that a question has for an answer.
func answers(ctx context.Context, snap *persistence.Snapshot, question string, take func(*sql.Rows) error, args ...any) error {
	rows, err := snap.Query(ctx, question, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
