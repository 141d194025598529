package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/oracle"
	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
	"github.com/adk-go-ext/longsession/record"
)

// wantLinks are the links between events that the file must hold, worked out from the events alone,
// in the order in which they were stored. docs/schema.md has the rules.
//
// For example, if event 2 calls c1 and c2, event 3 answers c1 and event 4 answers c2, then 2, 3 and
// 4 are one unit with the number 2, and the table calls has two rows for event 2. An app that loads
// event 4 finds the rest of its unit by that number.
type wantLinks struct {
	unit  map[int64]int64 // by seq, the first event of its unit; only for calls and responses
	calls map[callRow]bool
	began map[string]int64 // by invocation, its first event
	// lastUser and lastAgent are the seq of the newest event of their kind, 0 for none.
	lastUser, lastAgent int64
	// conflicted reports that a call came after its answer.
	conflicted bool

	nearest map[callAt]int64 // seq of the newest call so far
}

// callRow is a row of the table calls.
type callRow struct {
	id     string
	orphan bool
	branch string
	seq    int64
}

// callAt is a place to look for a call: a branch, or anywhere. Each call is noted under both, so that
// an answer in another branch, such as that of a sub-agent's parent, still finds it.
type callAt struct {
	id, branch string
	anywhere   bool
}

// wantLinksOf works out the links of a session whose rows can all be read.
func wantLinksOf(rows []*sessionfile.Row) *wantLinks {
	t := &wantLinks{unit: map[int64]int64{}, calls: map[callRow]bool{}, began: map[string]int64{}, nearest: map[callAt]int64{}}
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
			t.calls[callRow{id, false, adk.Lane(ev), row.Seq}] = true
			t.nearest[callAt{id: id, branch: adk.Lane(ev)}], t.nearest[callAt{id: id, anywhere: true}] = row.Seq, row.Seq
			t.conflicted = t.conflicted || orphans[id]
		}
	}
	for seq := range t.unit {
		t.unit[seq] = t.root(seq)
	}
	return t
}

// answers links an event to the calls that it answers: the nearest earlier ones of its branch, or
// else of any branch. For example, if events 1 and 2 both call c1 and event 3 answers c1, then 2 and
// 3 are a unit, and 1 is one of its own. An answer without an earlier call is an orphan: it gets a
// row of its own in the table calls. If a call of that ID comes later after all, the session is
// contested.
//
// An event that answers two calls joins their units. They are kept as a forest in which each event
// points to an earlier one of its unit, so joining is one assignment.
func (t *wantLinks) answers(seq int64, ev *session.Event, orphans map[string]bool) {
	for _, id := range names(oracle.ResponseIDs(ev)) {
		t.touch(seq)
		call := t.nearest[callAt{id: id, branch: adk.Lane(ev)}]
		if call == 0 {
			call = t.nearest[callAt{id: id, anywhere: true}]
		}
		if call == 0 {
			orphans[id] = true
			t.calls[callRow{id, true, adk.Lane(ev), seq}] = true
			continue
		}
		a, b := t.root(call), t.root(seq)
		t.unit[max(a, b)] = min(a, b)
	}
}

func (t *wantLinks) touch(seq int64) {
	if t.unit[seq] == 0 {
		t.unit[seq] = seq
	}
}

// root returns the first event of a unit. On the way it shortens the path, so that the next search
// takes fewer steps.
func (t *wantLinks) root(seq int64) int64 {
	for t.unit[seq] != seq {
		t.unit[seq] = t.unit[t.unit[seq]]
		seq = t.unit[seq]
	}
	return seq
}

// names returns IDs as JSON keeps them, each once, in order.
func names(ids []string) []string {
	kept := make([]string, len(ids))
	for i, id := range ids {
		kept[i] = record.Normalize(id)
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// checkLinks compares the links with those in the file: the column unit of each event, the columns
// last_user and last_agent of the session, and the tables calls and invocations. An app relies on
// them to load a part of a session. If it took a wrong unit, it could show a response without its
// call, which providers refuse.
func (e *examination) checkLinks(ctx context.Context, snap *persistence.Snapshot, want *wantLinks) error {
	for _, row := range e.rows {
		if unit := want.unit[row.Seq]; unit != row.Unit {
			e.find(row.Seq, row.ID, RuleLinks, "the column unit is %s, but must be %s: it was changed, and an app may show half of a call", orNull(row.Unit), orNull(unit))
		}
	}
	if e.lastUser != want.lastUser || e.lastAgent != want.lastAgent {
		e.find(0, "", RuleLinks, "last_user and last_agent are %s and %s, but must be %s and %s: they were changed, or events were",
			orNull(e.lastUser), orNull(e.lastAgent), orNull(want.lastUser), orNull(want.lastAgent))
	}
	var c callRow
	calls := map[callRow]bool{}
	err := answers(ctx, snap, "calls", "SELECT id, orphan, branch, seq FROM calls WHERE session = ?", []any{e.key}, []any{&c.id, &c.orphan, &c.branch, &c.seq}, func() { calls[c] = true })
	if err != nil {
		return err
	}
	if !maps.Equal(calls, want.calls) {
		e.find(0, "", RuleLinks, "the table calls disagrees with the calls of the events (%d rows, %d calls): an answer may not find its call", len(calls), len(want.calls))
	}
	var id string
	var first int64
	began := map[string]int64{}
	err = answers(ctx, snap, "invocations", "SELECT id, began FROM invocations WHERE session = ?", []any{e.key}, []any{&id, &first}, func() { began[id] = first })
	if err != nil {
		return err
	}
	if !maps.Equal(began, want.began) {
		e.find(0, "", RuleLinks, "the table invocations disagrees with the turns of the events (%d rows, %d turns): an open call may be given up too early, or never", len(began), len(want.began))
	}
	return nil
}

func orNull(number int64) string {
	if number == 0 {
		return "NULL"
	}
	return fmt.Sprint(number)
}
