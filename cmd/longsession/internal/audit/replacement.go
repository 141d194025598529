package audit

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// Replacement is a summary and the events that it covers.
type Replacement struct {
	Compaction
	// Replaced are the events, in order. Through are the records through which the summary covers
	// them: its own, those that its own record absorbed, and so on.
	Replaced []Entry  `json:"replaced"`
	Through  []string `json:"through"`
}

// Replacements returns what each summary in the view replaced. With all it includes every other
// record. With an id it returns only the record with that ID or, if there is none, the one whose ID
// begins or ends with id, see [Names]. Copies replace nothing.
func (f *File) Replacements(ctx context.Context, s *Session, id string, all bool) ([]Replacement, error) {
	l, err := f.load(ctx, s)
	if err != nil {
		return nil, err
	}
	index := record.NewIndex(l.events)
	out := []Replacement{}
	records := slices.DeleteFunc(l.compactions(), func(c Compaction) bool { return c.State == Unreadable || c.State == Copy })
	if id != "" {
		var ids []string
		for _, c := range records {
			ids = append(ids, c.RecordID)
		}
		if id, err = whichRecord(s, ids, id); err != nil {
			return nil, err
		}
	}
	for _, c := range records {
		if id == "" && (all || c.State == Current) || id != "" && c.RecordID == id {
			out = append(out, l.replacement(c, index))
		}
	}
	return out, nil
}

// replacement finds the events that a record covers, directly or through the records it absorbed.
// For example, if r3 covers e7 and absorbs r1 (e1 to e3) and r2 (e4 to e6), it replaced e1 to e7, and
// Through is r3, r1, r2. An event that two of the records cover is listed once.
func (l *loaded) replacement(c Compaction, index *record.Index) Replacement {
	r := Replacement{Compaction: c}
	positions := map[int]bool{}
	l.follow(l.records[c.RecordID], map[string]bool{}, func(m *record.Metadata) {
		r.Through = append(r.Through, m.RecordID)
		for _, ref := range m.Covered {
			if i, ok := index.Find(ref); ok && mayCover(m, l.events[i]) {
				positions[i] = true
			}
		}
	})
	for _, i := range slices.Sorted(maps.Keys(positions)) {
		e := Entry{Seq: l.seq[l.events[i]]}
		e.take(l.events[i])
		r.Replaced = append(r.Replaced, e)
	}
	return r
}

// follow calls visit for a record and all records that it absorbed, directly or not.
func (l *loaded) follow(m *record.Metadata, seen map[string]bool, visit func(*record.Metadata)) {
	if seen[m.RecordID] {
		return
	}
	seen[m.RecordID] = true
	visit(m)
	for _, id := range slices.Sorted(slices.Values(m.Absorbed)) {
		if a := l.records[id]; a != nil && a.Branch == m.Branch {
			l.follow(a, seen, visit)
		}
	}
}

// mayCover reports whether a record may cover an event that it names: one of its own branch and, for a
// record of tool rounds, of its own agent. A view ignores any other reference.
func mayCover(m *record.Metadata, ev *session.Event) bool {
	return record.Normalize(adk.Lane(ev)) == m.Branch && (!m.MidTurn() || record.Normalize(ev.Author) == m.Agent)
}
