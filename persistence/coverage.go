package persistence

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/record"
)

// checkByRecords is the check of AppendRecord if the column covered_by is not exact, or if a
// reference is ambiguous. It decodes the whole session, as every reading of a conflicted session
// does.
func (w *writer) checkByRecords(session int64, events int, m *record.Metadata) error {
	rows, err := w.allEvents.QueryContext(context.Background(), session)
	loaded, err := eventrow.Scan(rows, err, events, nil)
	if err != nil {
		return err
	}
	c := newCoverage(loaded)
	for _, ref := range m.Covered {
		at, ok := c.resolve(m, ref)
		if !ok {
			return fmt.Errorf("%w: record %q: event %q is missing or not the only one of this ID", ErrRecordSuperseded, m.RecordID, ref.ID)
		}
		if c.covered[at] {
			return fmt.Errorf("%w: record %q: another record covers event %q", ErrRecordSuperseded, m.RecordID, ref.ID)
		}
	}
	for _, id := range m.Absorbed {
		if !c.current(m.Branch, id) {
			return fmt.Errorf("%w: record %q: record %q, which it absorbs, is no longer current", ErrRecordSuperseded, m.RecordID, id)
		}
	}
	return nil
}

// coverage is what the records of a session cover, computed from the records alone. Its rules are
// those of the view:
//
//   - A reference resolves to one event of the record's branch. For a mid-turn record it must also
//     be of the record's agent.
//   - A record is current unless another record of its branch absorbs it, or a later one covers
//     everything that it covers.
//
// For example, record r of events 1 and 2 is not current next to a later record s of events 1, 2
// and 3.
type coverage struct {
	events  []*session.Event
	index   *record.Index
	records map[string]*record.Metadata
	covered map[int]bool // by position in events
}

func newCoverage(events []*session.Event) *coverage {
	c := &coverage{events: events, index: record.NewIndex(events), records: map[string]*record.Metadata{}, covered: map[int]bool{}}
	for _, ev := range events {
		m, err := record.From(ev)
		if err != nil || m == nil || c.records[m.RecordID] != nil {
			continue // of several records with one ID, the first counts
		}
		c.records[m.RecordID] = m
		for _, ref := range m.Covered {
			if at, ok := c.resolve(m, ref); ok {
				c.covered[at] = true
			}
		}
	}
	return c
}

// resolve returns the position of the event that a reference of a record names.
func (c *coverage) resolve(m *record.Metadata, ref record.Ref) (int, bool) {
	at, ok := c.index.Find(ref)
	if !ok {
		return 0, false
	}
	ev := c.events[at]
	return at, record.Normalize(adk.Lane(ev)) == m.Branch && (!m.MidTurn() || record.Normalize(ev.Author) == m.Agent)
}

// current reports whether a new record of the branch can absorb the record with an ID.
func (c *coverage) current(branch, id string) bool {
	m := c.records[id]
	if m == nil || m.Branch != branch {
		return false
	}
	own := c.family(m)
	covered := c.coveredPositions(own)
	for _, other := range c.records {
		if other.Branch != branch || own[other.RecordID] {
			continue
		}
		if slices.Contains(other.Absorbed, id) {
			return false
		}
		if len(covered) > 0 && other.Later(m) && containsAll(c.coveredPositions(c.family(other)), covered) {
			return false
		}
	}
	return true
}

// family returns the IDs of a record and of all records of its branch that it absorbs, directly or
// indirectly.
func (c *coverage) family(m *record.Metadata) map[string]bool {
	ids := map[string]bool{m.RecordID: true}
	for queue := []*record.Metadata{m}; len(queue) > 0; queue = queue[1:] {
		for _, id := range queue[0].Absorbed {
			if child := c.records[id]; child != nil && child.Branch == m.Branch && !ids[id] {
				ids[id] = true
				queue = append(queue, child)
			}
		}
	}
	return ids
}

// coveredPositions returns the positions of the events that the records with these IDs cover.
func (c *coverage) coveredPositions(ids map[string]bool) map[int]bool {
	positions := map[int]bool{}
	for id := range ids {
		for _, ref := range c.records[id].Covered {
			if at, ok := c.resolve(c.records[id], ref); ok {
				positions[at] = true
			}
		}
	}
	return positions
}

// containsAll reports whether all has every position of some.
func containsAll(all, some map[int]bool) bool {
	for at := range some {
		if !all[at] {
			return false
		}
	}
	return true
}
