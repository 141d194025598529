package adkdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/adk-go-ext/longsession/record"
)

// selectFitting counts the events that a record may cover, and the records that it may absorb, by the tables of [Install],
// and tells whether its ID is new. It has no row if the session is not exact.
const selectFitting = `SELECT
		(SELECT count(*) FROM jsonb_array_elements_text($4::text::jsonb) c JOIN longsession_visible v
			ON v.session = s.key AND v.event_id = c AND v.record_id IS NULL AND v.branch = $6 AND ($7 = '' OR v.author = $7)),
		(SELECT count(*) FROM jsonb_array_elements_text($5::text::jsonb) a JOIN longsession_records r ON r.session = s.key AND r.record_id = a
			JOIN longsession_visible v ON v.session = s.key AND v.event_id = r.event_id AND v.record_id = a AND v.branch = $6),
		NOT EXISTS (SELECT FROM longsession_records r WHERE r.session = s.key AND r.record_id = $8)
	FROM longsession_sessions s WHERE s.app_name = $1 AND s.user_id = $2 AND s.session_id = $3 AND s.state = 'exact'`

// tablesError is an error of the server that says that the tables of [Install] cannot be read: they were removed while this was
// done, have other columns, or the role got its rights after they were installed.
type tablesError struct{ error }

func (e tablesError) Unwrap() error { return e.error }

// fits reports whether the tables of [Install] show that the record can be stored: it is new, covers only visible events and
// absorbs only current records. If not, or if there are no such tables, the records themselves decide. After a tablesError,
// they decide in another transaction.
func (r *recordRow) fits(ctx context.Context, tx *sql.Tx, of key) (bool, error) {
	if !r.tables {
		return false, nil
	}
	covered, err := idsOf(r.meta.Covered)
	if err != nil {
		return false, err
	}
	absorbed, err := json.Marshal(append([]string{}, r.meta.Absorbed...))
	if err != nil {
		return false, err
	}
	agent := ""
	if r.meta.MidTurn() {
		agent = r.meta.Agent
	}
	var events, records int
	var isNew bool
	version, err := installedVersion(ctx, tx)
	if err == nil && version == schemaVersion {
		err = tx.QueryRowContext(ctx, selectFitting, append(of.args(), covered, string(absorbed), r.meta.Branch, agent, r.meta.RecordID)...).Scan(&events, &records, &isNew)
	}
	switch {
	case hasState(err, undefinedTable, undefinedColumn, insufficientPrivilege):
		return false, tablesError{err}
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	}
	return err == nil && isNew && events == len(r.meta.Covered) && records == len(r.meta.Absorbed), err
}

// idsOf returns the IDs of references as a JSON array.
func idsOf(refs []record.Ref) (string, error) {
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID
	}
	text, err := json.Marshal(ids)
	return string(text), err
}
