package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// missing is the kind of a finding about numbers that no event has.
const missing = "%s missing: rows were deleted or renumbered; restore a backup"

// checkNumbers checks that events are numbered 1, 2, 3... and that the session's row has the number
// of the last one. It reports whether both hold. persistence only ever appends, so a gap means that
// another program deleted or renumbered rows: the numbers 1, 2, 5 lead to "events 3 to 4 are
// missing". If the last rows were deleted, there is no gap, but the session's row still has the old
// number.
func (e *examination) checkNumbers() bool {
	before, last := len(e.found), int64(0)
	for _, row := range e.rows {
		switch {
		case row.Seq < 1:
			e.find(0, row.ID, RuleAppended, "has the number %d, but events are numbered from 1: another program inserted it; restore a backup", row.Seq)
			continue
		case row.Seq-1 > last:
			e.find(last+1, "", RuleAppended, missing, eventRange(last+1, row.Seq-1-last, "is", "are"))
			e.found[len(e.found)-1].Last = row.Seq - 1
		}
		last = row.Seq
	}
	if e.Events != last {
		e.find(0, "", RuleAppended, "the newest event is %d according to the session, but it is %d", e.Events, last)
	}
	return len(e.found) == before
}

// checkRows checks that events and records can be read and that records are marked as records. The
// mark is the column record_id: an app searches it for the records to load. A record without the
// mark would never be loaded, and the events it covers would come back.
func (e *examination) checkRows() {
	for _, row := range e.rows {
		if row.Err != nil {
			e.find(row.Seq, row.ID, RuleEvent, "cannot be read, so the rest of this session was not checked: %v", row.Err)
			continue
		}
		m, err := record.From(row.Event)
		switch {
		case err != nil:
			e.find(row.Seq, row.ID, RuleRecord, "the compaction record cannot be read, so it hides and shows nothing: %v", err)
		case m == nil && row.Record:
			e.find(row.Seq, row.ID, RuleRecord, "is marked as the record %q but is not one", row.RecordID)
		case m != nil && (!row.Record || m.RecordID != row.RecordID):
			e.find(row.Seq, row.ID, RuleRecord, "is the record %q but marked as %s", m.RecordID, quoteOr(row.Record, row.RecordID))
		}
	}
}

// checkOrder checks that keys and numbers rise together: rows get their keys in the order in which
// they are inserted. An event that was moved, or inserted between others, has a key out of order.
// For example, the numbers 1, 2, 3 with the keys 10, 14, 11 reveal that row 14 became event 2 after
// event 3 had been stored. Keys may have gaps, since all sessions share them.
func (e *examination) checkOrder(ctx context.Context, snap *persistence.Snapshot) error {
	const question = `SELECT seq, id, key, before FROM
		(SELECT seq, id, key, lag(key) OVER (ORDER BY seq) AS before FROM events WHERE session = ?) WHERE key < before ORDER BY seq`
	var seq, key, before int64
	var id string
	return answers(ctx, snap, "events", question, []any{e.key}, []any{&seq, &id, &key, &before}, func() {
		e.find(seq, id, RuleAppended, "was stored before its predecessor (row %d, and row %d): events were reordered or inserted; restore a backup", key, before)
	})
}

// checkTypes checks that text is stored as text. SQLite keeps a type for each value and not only for
// each column, so a program can store the same bytes as a blob. The digest would still fit, but the
// views of the file, and queries that compare with text, would no longer find the value.
//
// One query finds all such rows. It asks for the type of each column, and returns the names of the
// columns that hold neither text nor NULL.
func (e *examination) checkTypes(ctx context.Context, snap *persistence.Snapshot) error {
	columns := []string{"id", "time", "invocation_id", "author", "branch", "record_id", "covered_by", "content", "actions",
		"usage_metadata", "custom_metadata", "long_running_tool_ids", "extra"}
	var names, wrong []string
	for _, column := range columns {
		names = append(names, "CASE WHEN typeof("+column+") NOT IN ('text', 'null') THEN '"+column+" ' ELSE '' END")
		wrong = append(wrong, "typeof("+column+") NOT IN ('text', 'null')")
	}
	question := "SELECT seq, CAST(id AS TEXT), " + strings.Join(names, " || ") + " FROM events WHERE session = ? AND (" + strings.Join(wrong, " OR ") + ") ORDER BY seq"
	var seq int64
	var id, found string
	return answers(ctx, snap, "events", question, []any{e.key}, []any{&seq, &id, &found}, func() {
		e.find(seq, id, RuleEvent, "is not stored as text, so the views of the file cannot show it: column %s: it was changed", strings.Join(strings.Fields(found), ", "))
	})
}

// checkState checks that each key of the session's own state has the value that the newest event
// set. For example, if event 1 sets city to "Oslo", event 2 sets user:name, and event 3 sets city to
// "Bergen", the table session_state must have city "Bergen", and user:name is not checked.
//
// It skips keys that no event set, since the session may have been created with them. It also skips
// the state of the app and the user, which other sessions set too, and temporary state, which is
// never stored.
func (e *examination) checkState(ctx context.Context, snap *persistence.Snapshot) error {
	type set struct {
		seq   int64
		value string
	}
	want := map[string]set{}
	var seq int64
	var actions []byte
	var broken error
	err := answers(ctx, snap, "events", "SELECT seq, actions FROM events WHERE session = ? AND actions IS NOT NULL ORDER BY seq", []any{e.key}, []any{&seq, &actions}, func() {
		var of struct {
			StateDelta map[string]json.RawMessage `json:"state_delta"`
		}
		if err := json.Unmarshal(actions, &of); err != nil && broken == nil {
			broken = fmt.Errorf("event %d: %w", seq, err)
		}
		for key, value := range of.StateDelta {
			// JSON cannot hold bytes that are not UTF-8, so it cannot name a key that has some.
			shared := strings.HasPrefix(key, session.KeyPrefixApp) || strings.HasPrefix(key, session.KeyPrefixUser) || adk.IsTemp(key)
			if !shared && !strings.ContainsRune(key, utf8.RuneError) {
				want[key] = set{seq, string(value)}
			}
		}
	})
	if err = cmp.Or(err, broken); err != nil || len(want) == 0 {
		return err
	}
	// Values are compared as JSON text, as persistence writes them to both tables.
	var key, value string
	is := map[string]string{}
	err = answers(ctx, snap, "session_state", "SELECT key, value FROM session_state WHERE session = ?", []any{e.key}, []any{&key, &value}, func() { is[key] = value })
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, found := is[key]
		switch {
		case !found:
			e.find(want[key].seq, "", RuleState, "sets %q, but the session's state does not have that key: it was deleted", key)
		case value != want[key].value:
			e.find(want[key].seq, "", RuleState, "is the newest event that sets %q, but the session's state has another value: one of the two was changed", key)
		}
	}
	return nil
}

// written is the layout of times in the file.
const written = "2006-01-02T15:04:05.000000000Z"

// checkTimes checks that a session has a time of creation, and that it was last updated at the time
// of its newest event.
func (e *examination) checkTimes() {
	if _, err := time.Parse(written, e.Created); err != nil {
		e.find(0, "", RuleTimes, "created_at is %q, which is not a time of the form 2006-01-02T15:04:05.000000000Z", e.Created)
	}
	newest := e.Created
	if n := len(e.rows); n > 0 {
		newest = e.rows[n-1].Time
	}
	if e.Updated != newest {
		e.find(0, "", RuleTimes, "updated_at is %q, but the newest event is of %q: one of the two was changed, or newer events were deleted", e.Updated, newest)
	}
}
