package audit

import (
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/adk-go-ext/longsession/persistence"
)

// checkChain recomputes the session's digests and compares them with those that are stored.
func (e *examination) checkChain(ctx context.Context, f *File, snap *persistence.Snapshot) error {
	firstDigested, err := f.firstDigested(ctx, snap)
	if err != nil {
		return err
	}
	chain, err := snap.Chain(ctx, e.key)
	if err != nil {
		return err
	}
	for link, err := range snap.Links(ctx, chain) {
		if err != nil {
			return err
		}
		if link.Stored == nil {
			e.undigested++
		}
		if text := misfit(chain, link); text != "" {
			e.find(link.Seq, link.ID, RuleChain, "%s", text)
		}
	}
	if e.undigested == 0 {
		return nil
	}
	return e.checkUndigested(ctx, snap, chain, firstDigested)
}

// checkUndigested: all events without a digest were stored before any that has one, in whatever session, for a
// file is brought up to date in one moment. Else somebody took digests away and said so in the session's row.
func (e *examination) checkUndigested(ctx context.Context, snap *persistence.Snapshot, chain persistence.Chain, firstDigested int64) error {
	const question = `SELECT seq, id FROM events WHERE session = ? AND seq <= ? AND digest IS NULL AND key > ? ORDER BY seq LIMIT 1`
	return answers(ctx, snap, question, func(rows *sql.Rows) error {
		var seq int64
		var id string
		if err := rows.Scan(&seq, &id); err != nil {
			return err
		}
		e.find(seq, id, RuleChain, "has no digest, and an event that was stored before it has one: its digest was taken away, and maybe those of others in this session")
		return nil
	}, e.key, chain.Undigested, firstDigested)
}

// firstDigested returns the key of the first row that has a digest, the highest number if none has. It is looked for
// once: rows are only added behind it.
func (f *File) firstDigested(ctx context.Context, snap *persistence.Snapshot) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.digested > 0 {
		return f.digested, nil
	}
	key := int64(math.MaxInt64)
	err := answers(ctx, snap, "SELECT key FROM events WHERE digest IS NOT NULL ORDER BY key LIMIT 1", func(rows *sql.Rows) error {
		return rows.Scan(&key)
	})
	if err == nil {
		f.digested = key
	}
	return key, err
}

// misfit says what is wrong with a link, "" if nothing is.
func misfit(chain persistence.Chain, link persistence.Link) string {
	switch {
	case link.Stored != nil && link.Seq <= chain.Undigested:
		return fmt.Sprintf("has a digest, and its session says that events up to %d are older than digests: the column undigested was changed", chain.Undigested)
	case link.Fits:
		return ""
	case link.Stored == nil && link.Seq <= chain.Undigested:
		return "" // older than digests are
	case link.Stored == nil:
		return fmt.Sprintf("has no digest, and only events up to %d are older than digests: it was put there, or its digest was taken away", chain.Undigested)
	case link.Seq == 1:
		return "the digest does not follow from the event and the session's name and creation time: one of these was changed, or the event was moved here"
	}
	return "the digest does not follow from the event and the digest before it: the event was changed or moved, or one before it was deleted or inserted"
}
