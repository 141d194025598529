package audit

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// ties are what the file must keep of how events belong together, worked out from the events alone, in the
// order in which they were stored. docs/schema.md has the rules.
type ties struct {
	unit  map[int64]int64 // number by seq, of events that call or answer
	calls map[callRow]bool
	began map[string]int64 // by invocation
	// lastUser and lastAgent are the seq of the newest event of their kind, 0 for none.
	lastUser, lastAgent int64
	// contested says that a call came after its answer.
	contested bool

	nearest map[callAt]int64 // seq of the newest call so far
}

// callRow is a row of the table calls, and callAt where a call is looked for.
type callRow struct {
	id     string
	orphan bool
	branch string
	seq    int64
}

type callAt struct {
	id, branch string
	anywhere   bool
}

// tiesOf works out the ties of a session whose rows can all be read.
func tiesOf(rows []*persistence.Row) *ties {
	t := &ties{unit: map[int64]int64{}, calls: map[callRow]bool{}, began: map[string]int64{}, nearest: map[callAt]int64{}}
	orphans := map[string]bool{}
	for _, row := range rows {
		ev := row.Event
		if record.Is(ev) {
			continue
		}
		if _, before := t.began[ev.InvocationID]; speaks(ev) && ev.InvocationID != "" && !before {
			t.began[ev.InvocationID] = row.Seq
		}
		switch {
		case ev.Author == "user" && ev.Content != nil:
			t.lastUser = row.Seq
		case ev.Author != "user" && ev.Author != "":
			t.lastAgent = row.Seq
		}
		t.answers(row.Seq, ev, orphans)
		for _, id := range names(oracle.CallIDs(ev)) {
			t.touch(row.Seq)
			t.calls[callRow{id, false, ev.Branch, row.Seq}] = true
			t.nearest[callAt{id: id, branch: ev.Branch}], t.nearest[callAt{id: id, anywhere: true}] = row.Seq, row.Seq
			t.contested = t.contested || orphans[id]
		}
	}
	for seq := range t.unit {
		t.unit[seq] = t.root(seq)
	}
	return t
}

// answers ties an event to the calls that it answers: the nearest before it, of its branch or else of any.
func (t *ties) answers(seq int64, ev *session.Event, orphans map[string]bool) {
	for _, id := range names(oracle.ResponseIDs(ev)) {
		t.touch(seq)
		call := t.nearest[callAt{id: id, branch: ev.Branch}]
		if call == 0 {
			call = t.nearest[callAt{id: id, anywhere: true}]
		}
		if call == 0 {
			orphans[id] = true
			t.calls[callRow{id, true, ev.Branch, seq}] = true
			continue
		}
		a, b := t.root(call), t.root(seq)
		t.unit[max(a, b)] = min(a, b)
	}
}

func (t *ties) touch(seq int64) {
	if t.unit[seq] == 0 {
		t.unit[seq] = seq
	}
}

// root returns the first event of a unit.
func (t *ties) root(seq int64) int64 {
	for t.unit[seq] != seq {
		t.unit[seq] = t.unit[t.unit[seq]]
		seq = t.unit[seq]
	}
	return seq
}

// names are IDs as JSON keeps them, each once.
func names(ids []string) []string {
	seen := map[string]bool{}
	for _, id := range ids {
		seen[record.Normalize(id)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// checkTies compares the ties with those in the file.
func (e *examination) checkTies(ctx context.Context, snap *persistence.Snapshot, want *ties) error {
	for _, row := range e.rows {
		if unit := want.unit[row.Seq]; unit != row.Unit {
			e.find(row.Seq, row.ID, RuleTies, "the column unit is %s, and must be %s: set it so, or an app may show half of a call", orNull(row.Unit), orNull(unit))
		}
	}
	if e.lastUser != want.lastUser || e.lastAgent != want.lastAgent {
		e.find(0, "", RuleTies, "last_user and last_agent are %s and %s, and must be %s and %s: set them so",
			orNull(e.lastUser), orNull(e.lastAgent), orNull(want.lastUser), orNull(want.lastAgent))
	}
	calls := map[callRow]bool{}
	err := answers(ctx, snap, "SELECT id, orphan, branch, seq FROM calls WHERE session = ?", func(rows *sql.Rows) error {
		var c callRow
		if err := rows.Scan(&c.id, &c.orphan, &c.branch, &c.seq); err != nil {
			return err
		}
		calls[c] = true
		return nil
	}, e.key)
	if err != nil {
		return fmt.Errorf("table calls: %w", err)
	}
	if !maps.Equal(calls, want.calls) {
		e.find(0, "", RuleTies, "the table calls does not have the calls of the events (%d rows, %d calls): an answer may not find its call", len(calls), len(want.calls))
	}
	began := map[string]int64{}
	err = answers(ctx, snap, "SELECT id, began FROM invocations WHERE session = ?", func(rows *sql.Rows) error {
		var id string
		var at int64
		if err := rows.Scan(&id, &at); err != nil {
			return err
		}
		began[id] = at
		return nil
	}, e.key)
	if err != nil {
		return fmt.Errorf("table invocations: %w", err)
	}
	if !maps.Equal(began, want.began) {
		e.find(0, "", RuleTies, "the table invocations does not have the turns of the events (%d rows, %d turns): an open call may never be given up, or too early", len(began), len(want.began))
	}
	return nil
}

func orNull(number int64) string {
	if number == 0 {
		return "NULL"
	}
	return fmt.Sprint(number)
}
