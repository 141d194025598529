package adkdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// check finds out whether a record may be stored. It returns the event that stores it already, nil if none does, and an error
// that wraps ErrRecordSuperseded if the session has moved on. The transaction holds the session's lock.
//
// It reads the events that the record covers, by their IDs, and all records of the session, by the rules of the view: a
// reference names an event of the record's branch, and, in a mid-turn record, of its agent. The IDs are unique in a session,
// because they are part of ADK's primary key.
func (r *recordRow) check(ctx context.Context, tx *sql.Tx, kind dialect, of key) (existing *session.Event, err error) {
	events, err := recordsOf(ctx, tx, kind, of)
	if err != nil {
		return nil, err
	}
	all := records{}
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil {
			continue // it hides nothing
		}
		if m.RecordID == r.meta.RecordID {
			return ev, nil
		}
		if all[m.RecordID] == nil { // of several with one ID, the first counts
			all[m.RecordID] = m
		}
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: record %q: %s", ErrRecordSuperseded, r.meta.RecordID, fmt.Sprintf(format, args...))
	}
	covered, err := eventsOf(ctx, tx, kind, of, r.meta.Covered)
	if err != nil {
		return nil, err
	}
	for _, ref := range r.meta.Covered {
		if ev, found := covered[ref.ID]; !found || !ev.isOf(r.meta) {
			return nil, refuse("event %q is missing", ref.ID)
		}
	}
	for _, other := range all {
		for _, ref := range other.Covered {
			if ev, found := covered[ref.ID]; found && ev.isOf(other) {
				return nil, refuse("record %q covers event %q", other.RecordID, ref.ID)
			}
		}
	}
	for _, id := range r.meta.Absorbed {
		if !all.current(r.meta.Branch, id) {
			return nil, refuse("record %q, which it absorbs, is no longer current", id)
		}
	}
	return nil, nil
}

// speaker is what decides whether a record can cover an event.
type speaker struct{ author, lane string }

// isOf reports whether a record can cover an event of the speaker.
func (e speaker) isOf(m *record.Metadata) bool {
	return record.Normalize(e.lane) == m.Branch && (!m.MidTurn() || record.Normalize(e.author) == m.Agent)
}

// mostAtOnce bounds how many events one statement names. PostgreSQL takes up to 65,535 parameters.
const mostAtOnce = 1_000

// eventsOf returns the events that references name, by their IDs.
func eventsOf(ctx context.Context, tx *sql.Tx, kind dialect, of key, refs []record.Ref) (map[string]speaker, error) {
	found := make(map[string]speaker, len(refs))
	for some := range slices.Chunk(refs, mostAtOnce) {
		args := of.args()
		for _, ref := range some {
			args = append(args, ref.ID)
		}
		rows, err := tx.QueryContext(ctx, kind.sql(`SELECT id, author, branch, `+scope("")+` FROM events WHERE `+whereSession+` AND id IN (?`+strings.Repeat(", ?", len(some)-1)+`)`), args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id string
			var author, branch sql.NullString
			var scope string
			if err = rows.Scan(&id, &author, &branch, &scope); err != nil {
				break
			}
			found[id] = speaker{author.String, adk.JoinLane(branch.String, scope)}
		}
		if closed := rows.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// records are those of a session that can be read, by their record IDs.
type records map[string]*record.Metadata

// current reports whether a new record of the branch can absorb the record with an ID: no other record of the branch absorbs
// it, or was made later and covers everything that it covers.
func (all records) current(branch, id string) bool {
	m := all[id]
	if m == nil || m.Branch != branch {
		return false
	}
	own := all.family(m)
	covered := all.coveredBy(own)
	for _, other := range all {
		if other.Branch != branch || own[other.RecordID] {
			continue
		}
		if slices.Contains(other.Absorbed, id) {
			return false
		}
		if len(covered) > 0 && other.Later(m) && containsAll(all.coveredBy(all.family(other)), covered) {
			return false
		}
	}
	return true
}

// family returns the IDs of a record and of all records of its branch that it absorbs, directly or indirectly.
func (all records) family(m *record.Metadata) map[string]bool {
	own := map[string]bool{m.RecordID: true}
	for queue := []*record.Metadata{m}; len(queue) > 0; queue = queue[1:] {
		for _, id := range queue[0].Absorbed {
			if child := all[id]; child != nil && child.Branch == m.Branch && !own[id] {
				own[id] = true
				queue = append(queue, child)
			}
		}
	}
	return own
}

// coveredBy returns the IDs of the events that records cover.
func (all records) coveredBy(family map[string]bool) map[string]bool {
	covered := map[string]bool{}
	for id := range family {
		for _, ref := range all[id].Covered {
			covered[ref.ID] = true
		}
	}
	return covered
}

// containsAll reports whether all has every ID of some.
func containsAll(all, some map[string]bool) bool {
	for id := range some {
		if !all[id] {
			return false
		}
	}
	return true
}
