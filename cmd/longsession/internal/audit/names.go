package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/adk-go-ext/longsession/persistence"
)

// fewest is how many characters of a record's ID are shown at least.
const fewest = 8

// Names are the short names of a session's records: the last eight characters of the ID, or as many more as it takes to
// tell it from all others. A UUID of version 7 begins with a clock, so the first characters of the records of one hour
// are alike, and ends with random ones. What finds a record by its ID takes the short name too.
//
// For example, the IDs 01a20dbc-…-3f9a0c11 and 01a20dbc-…-d2e47b58 have the names 3f9a0c11 and d2e47b58, and r1 is r1.
type Names struct{ short map[string]string }

// ReadNames returns the names of a session's records.
func ReadNames(ctx context.Context, f *File, s *Session) (*Names, error) {
	var ids []string
	err := f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		var id string
		const question = "SELECT record_id FROM events WHERE session = ? AND record_id <> ''"
		return answers(ctx, snap, "events", question, []any{s.key}, []any{&id}, func() { ids = append(ids, id) })
	})
	return namesOf(ids), err
}

func namesOf(ids []string) *Names {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	alike := map[string]int{} // how many IDs begin or end with these characters
	for _, id := range ids {
		if len(id) > fewest {
			alike[id[:fewest]]++
			if end := id[len(id)-fewest:]; end != id[:fewest] {
				alike[end]++
			}
		} else {
			alike[id]++
		}
	}
	n := &Names{map[string]string{}}
	for _, id := range ids {
		at := max(0, len(id)-fewest)
		if at > 0 && alike[id[at:]] > 1 {
			for at > 0 && len(fitting(ids, id[at:])) > 1 {
				at--
			}
		}
		if !utf8.ValidString(id[at:]) { // cut within a character
			at = 0
		}
		n.short[id] = id[at:]
	}
	return n
}

// Of returns the name of a record, or the whole ID if the session has no such record.
func (n *Names) Of(id string) string {
	if name, known := n.short[id]; known {
		return name
	}
	return id
}

// Entry puts names in the place of the IDs of records in an entry.
func (n *Names) Entry(e *Entry) {
	e.CoveredBy = n.Of(e.CoveredBy)
	if e.Record != nil {
		named := *e.Record
		n.Compaction(&named)
		e.Record = &named
	}
	e.Calls = slices.Clone(e.Calls)
	for i := range e.Calls {
		e.Calls[i].Checkpoint = n.Of(e.Calls[i].Checkpoint)
	}
}

// Compaction puts names in the place of the IDs of a compaction and of the record that absorbed it.
func (n *Names) Compaction(c *Compaction) {
	c.RecordID, c.AbsorbedBy = n.Of(c.RecordID), n.Of(c.AbsorbedBy)
}

// fitting returns which of the IDs a text names: the one that it is, or else those that begin or end with it.
func fitting(ids []string, text string) []string {
	if slices.Contains(ids, text) {
		return []string{text}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, text) && !strings.HasSuffix(id, text) })
}

// whichRecord returns the one ID of several that a text names, or an [*ErrWhich] that says which it could name.
func whichRecord(s *Session, ids []string, text string) (string, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	fit := fitting(ids, text)
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(ids) == 0:
		return "", &ErrWhich{fmt.Sprintf("session %q has no record that can be read, so none is named %q", s.Name(), text)}
	case len(fit) == 0:
		return "", &ErrWhich{fmt.Sprintf("session %q has no readable record whose ID is %q or begins or ends with that; it has %s", s.Name(), text, recordList(ids, ids))}
	}
	return "", &ErrWhich{fmt.Sprintf("%d records of session %q begin or end with %q: name one of %s", len(fit), s.Name(), text, recordList(ids, fit))}
}

// recordList lists the names of some of the records: only the first ones if there are many.
func recordList(all, some []string) string {
	const most = 20
	names, shown := namesOf(slices.Clone(all)), []string{}
	for _, id := range some[:min(most, len(some))] {
		shown = append(shown, fmt.Sprintf("%q", names.Of(id)))
	}
	text := strings.Join(shown, ", ")
	if more := len(some) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
