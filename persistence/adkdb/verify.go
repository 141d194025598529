package adkdb

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
)

// Finding is a session whose rows in the tables of [Install] are not what its events make them.
type Finding struct {
	AppName, UserID, SessionID string
	// Text says what is wrong, and what it means for the app.
	Text string
}

// String names the session and what is wrong.
func (f Finding) String() string {
	return fmt.Sprintf("session %q of user %q of app %q: %s", f.SessionID, f.UserID, f.AppName, f.Text)
}

// mostRows is how many rows of a session a [Finding] names.
const mostRows = 3

//go:embed verify.sql
var rowsOfSession string

// Verify compares the tables of [Install] with what the stored events make them, and returns what is wrong, the sessions in
// the order of their names; nothing is changed. It makes the rows of each session again in a transaction that it rolls back,
// so it needs the rights of Install, takes about as long, and an append to a session waits while that session
// is compared. A session that was deleted meanwhile is left out.
//
// The tables are wrong only if somebody has written to them, or to ADK's tables while the triggers were disabled. [Rebuild]
// does not mend that, because such a session counts as exact: call [Uninstall] and Install.
func Verify(ctx context.Context, db *sql.DB) ([]Finding, error) {
	found, err := verify(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return found, nil
}

func verify(ctx context.Context, db *sql.DB) ([]Finding, error) {
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return nil, err
	}
	switch version, err := installedVersion(ctx, db); {
	case err != nil:
		return nil, err
	case version != schemaVersion:
		return nil, fmt.Errorf("the tables of version %d are not installed (found %d): call Install first", schemaVersion, version)
	}
	all, err := sessionsOf(ctx, db, `SELECT app_name, user_id, id FROM `+schema+`.sessions ORDER BY 1, 2, 3`)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, s := range all {
		text, err := verifySession(ctx, db, schema, s)
		if err != nil {
			return nil, fmt.Errorf("session %q of user %q of app %q: %w", s[2], s[1], s[0], err)
		}
		if text != "" {
			found = append(found, Finding{s[0], s[1], s[2], text})
		}
	}
	return found, nil
}

// errRollBack ends a transaction that must leave nothing behind.
var errRollBack = errors.New("roll back")

// verifySession returns what is wrong with the rows of a session, "" if nothing is.
func verifySession(ctx context.Context, db *sql.DB, schema string, s [3]string) (text string, err error) {
	for range rebuildTries {
		err = inTransaction(ctx, db, func(tx *sql.Tx) error {
			// Whoever deletes the session takes the locks in this order, too, and so does longsession_rebuild.
			var state string
			err := tx.QueryRowContext(ctx, `SELECT '' FROM `+schema+`.sessions WHERE app_name = $1 AND user_id = $2 AND id = $3 FOR KEY SHARE`, s[0], s[1], s[2]).Scan(&state)
			if errors.Is(err, sql.ErrNoRows) {
				text = ""
				return errRollBack
			}
			if err != nil {
				return err
			}
			// Appends of others wait from here on.
			err = tx.QueryRowContext(ctx, `SELECT state FROM `+schema+`.longsession_sessions
				WHERE app_name = $1 AND user_id = $2 AND session_id = $3 FOR UPDATE`, s[0], s[1], s[2]).Scan(&state)
			if errors.Is(err, sql.ErrNoRows) {
				state, err = "pending", nil
			}
			if err != nil {
				return err
			}
			before, err := textsOf(ctx, tx, s)
			if err != nil {
				return err
			}
			var made string
			if err := tx.QueryRowContext(ctx, "SELECT "+schema+".longsession_rebuild($1, $2, $3)", s[0], s[1], s[2]).Scan(&made); err != nil {
				return err
			}
			after, err := textsOf(ctx, tx, s)
			if err != nil {
				return err
			}
			text = difference(state, made, before, after)
			return errRollBack
		})
		if errors.Is(err, errRollBack) {
			return text, nil
		}
		if !hasState(err, deadlockDetected, serializationFailure) {
			return "", err
		}
	}
	return "", err
}

// difference says how the rows of a session differ from those that were made anew.
func difference(state, made string, before, after []string) string {
	switch {
	case made == "gone":
		return ""
	case state == "pending":
		return "its rows were never made, so it is loaded whole: call Install"
	case state == "conflicted" && made == "exact":
		return "it is loaded whole, although its records no longer contradict each other: call Rebuild"
	case state == "conflicted":
		return ""
	case made != "exact":
		return "its records contradict each other, and its rows do not say so: the model may be shown too little"
	}
	text := ""
	for _, of := range []struct {
		what       string
		here, less []string
	}{{"too many", before, after}, {"missing", after, before}} {
		rows := slices.DeleteFunc(slices.Clone(of.here), func(row string) bool { _, found := slices.BinarySearch(of.less, row); return found })
		if len(rows) == 0 {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("rows %s: %d, such as %q", of.what, len(rows), rows[:min(mostRows, len(rows))])
	}
	if text != "" {
		text += "; the model may be shown too much or too little"
	}
	return text
}

// textsOf returns the rows of a session in the tables of Install as texts, in order.
func textsOf(ctx context.Context, tx *sql.Tx, s [3]string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, rowsOfSession, s[0], s[1], s[2])
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	slices.Sort(texts) // the server may sort by another alphabet
	return texts, rows.Err()
}
