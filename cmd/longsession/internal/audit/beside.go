package audit

import (
	"context"
	"errors"
	"slices"

	"github.com/adk-go-ext/longsession/internal/view"
	"github.com/adk-go-ext/longsession/persistence"
)

// Beside is a summary and the first of the events that it replaced.
type Beside struct {
	Replacement
	// All counts the events that it replaced.
	All int
}

// ReadBeside returns the newest summaries that [File.Replacements] returns, the newest first: at most the given number,
// each with at most so many events, and how many older summaries there are. It goes by the marks in the file and reads
// only the events that it returns, unless the session is contested: then the marks do not tell everything, and it
// reads the whole session.
func ReadBeside(ctx context.Context, f *File, s *Session, id string, all bool, summaries, events int) (found []Beside, older int, err error) {
	contested := false
	var which *ErrWhich // as it is, not as an error of reading the file
	err = f.stored.Snapshot(ctx, func(snap *persistence.Snapshot) error {
		now, err := sessionIn(ctx, snap, s)
		if err != nil {
			return err
		}
		if contested = now.Contested; contested {
			return nil
		}
		records, err := markedRecords(ctx, f, snap, now, id, all)
		if err != nil {
			if errors.As(err, &which) {
				return nil
			}
			return err
		}
		found, older, err = besideIn(ctx, snap, now, records, summaries, events)
		return err
	})
	if err == nil && which != nil {
		return nil, 0, which
	}
	if err == nil && contested {
		return besideWhole(ctx, f, s, id, all, summaries, events)
	}
	return found, older, err
}

// besideWhole is ReadBeside for a contested session.
func besideWhole(ctx context.Context, f *File, s *Session, id string, all bool, summaries, events int) (found []Beside, older int, err error) {
	whole, err := f.Replacements(ctx, s, id, all)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(whole, func(a, b Replacement) int { return int(b.Seq - a.Seq) })
	older = max(0, len(whole)-summaries)
	for _, r := range whole[:len(whole)-older] {
		b := Beside{Replacement: r, All: len(r.Replaced)}
		b.Replaced = b.Replaced[:min(events, len(b.Replaced))]
		found = append(found, b)
	}
	return found, older, nil
}

// marked is a record as the columns of its event describe it.
type marked struct {
	seq              int64
	record, absorber string
	current          bool
}

// markedRecords returns the records of a session that were asked for, the newest first.
func markedRecords(ctx context.Context, f *File, snap *persistence.Snapshot, s *Session, id string, all bool) ([]marked, error) {
	events, err := f.viewIn(ctx, snap, s)
	if err != nil {
		return nil, reason(ctx, snap, s, err)
	}
	shown := map[string]bool{}
	for _, ev := range events {
		shown[ev.ID] = !view.IsStandIn(ev)
	}
	var m marked
	var found []marked
	const question = "SELECT seq, record_id, coalesce(covered_by, '') FROM events WHERE session = ? AND record_id <> '' ORDER BY seq DESC"
	err = answers(ctx, snap, "events", question, []any{s.key}, []any{&m.seq, &m.record, &m.absorber}, func() {
		if m.absorber != m.record { // a copy is marked with its own ID
			m.current = shown[m.record]
			found = append(found, m)
		}
	})
	if err != nil {
		return nil, err
	}
	if id != "" {
		var ids []string
		for _, m := range found {
			ids = append(ids, m.record)
		}
		if id, err = whichRecord(s, ids, id); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(found, func(m marked) bool {
		return id == "" && !all && !m.current || id != "" && m.record != id
	}), nil
}

// besideIn reads the newest of some records and what they replaced. A record that cannot be read is left out.
func besideIn(ctx context.Context, snap *persistence.Snapshot, s *Session, records []marked, summaries, events int) (found []Beside, older int, err error) {
	for i, m := range records {
		if len(found) == summaries {
			return found, len(records) - i, nil
		}
		rows, err := rowsIn(ctx, snap, s, m.seq, 1)
		if err != nil {
			return nil, 0, err
		}
		c := compactionOf(rows[0])
		switch {
		case c.State == Unreadable:
			continue
		case m.current:
			c.State = Current
		case m.absorber != "":
			c.State = Absorbed
		default:
			c.State = Replaced
		}
		b := Beside{Replacement: Replacement{Compaction: c}}
		if err := b.read(ctx, snap, s, events); err != nil {
			return nil, 0, err
		}
		found = append(found, b)
	}
	return found, 0, nil
}

// chain selects the records through which a record covers events: itself, those that it absorbed, and so on.
const chain = `WITH RECURSIVE chain (id) AS (
		VALUES (?2)
		UNION
		SELECT r.record_id FROM chain CROSS JOIN events r WHERE r.session = ?1 AND r.covered_by = chain.id AND r.record_id <> ''
	) `

// read adds the events that the record replaced.
func (b *Beside) read(ctx context.Context, snap *persistence.Snapshot, s *Session, events int) error {
	key := []any{s.key, b.RecordID}
	var id string
	if err := answers(ctx, snap, "events", chain+"SELECT id FROM chain", key, []any{&id}, func() { b.Through = append(b.Through, id) }); err != nil {
		return err
	}
	const covered = chain + "SELECT e.seq FROM chain CROSS JOIN events e WHERE e.session = ?1 AND e.covered_by = chain.id AND e.record_id IS NULL ORDER BY e.seq"
	var seq int64
	var seqs []int64
	err := answers(ctx, snap, "events", covered, key, []any{&seq}, func() {
		if b.All++; len(seqs) < events {
			seqs = append(seqs, seq)
		}
	})
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		rows, err := rowsIn(ctx, snap, s, seq, 1)
		if err != nil {
			return err
		}
		e := Entry{Seq: seq, ID: rows[0].ID}
		if ev := rows[0].Event; ev != nil {
			e.take(ev)
		} else {
			e.Unreadable = rows[0].Err.Error()
		}
		b.Replaced = append(b.Replaced, e)
	}
	return nil
}
