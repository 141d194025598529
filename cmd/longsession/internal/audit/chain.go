package audit

import (
	"context"
	"fmt"
	"math"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/persistence"
)

// checkChain recomputes the session's digests and compares them with the stored ones. The digest of
// an event is a hash of its row and of the digest before it; the first one follows from the name and
// the creation time of the session (see docs/schema.md). For example, if somebody changes event 2 of
// 3, its stored digest no longer follows from its row, so event 2 is a finding. Event 3 still follows
// from the stored digest of event 2, so it is none.
func (e *examination) checkChain(ctx context.Context, f *File, snap *persistence.Snapshot) error {
	firstDigested, err := f.firstDigested(ctx, snap)
	if err != nil {
		return err
	}
	chain, err := sessionfile.ChainOf(ctx, snap, e.key)
	if err != nil {
		return err
	}
	for link, err := range chain.Links(ctx, snap) {
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

// checkUndigested checks that all events without a digest were stored before any event with one, in
// whatever session: a new version writes digests for all sessions from the moment it first opens the
// file. For example, if session a has the rows 1 and 4 and session b has row 2 with a digest, then
// row 4 must have a digest too. If it has none, somebody removed digests and changed the column
// undigested to match.
func (e *examination) checkUndigested(ctx context.Context, snap *persistence.Snapshot, chain sessionfile.Chain, firstDigested int64) error {
	const question = `SELECT seq, id FROM events WHERE session = ? AND seq <= ? AND digest IS NULL AND key > ? ORDER BY seq LIMIT 1`
	var seq int64
	var id string
	return answers(ctx, snap, "events", question, []any{e.key, chain.Undigested, firstDigested}, []any{&seq, &id}, func() {
		e.find(seq, id, RuleChain, "has no digest, but an event that was stored before it has one: its digest was removed, and perhaps those of others in this session")
	})
}

// firstDigested returns the key of the first row with a digest, or the highest number if there is
// none. It runs the query once, since rows are only added at the end.
func (f *File) firstDigested(ctx context.Context, snap *persistence.Snapshot) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.digested > 0 {
		return f.digested, nil
	}
	key := int64(math.MaxInt64)
	err := answers(ctx, snap, "events", "SELECT key FROM events WHERE digest IS NOT NULL ORDER BY key LIMIT 1", nil, []any{&key}, func() {})
	if err == nil {
		f.digested = key
	}
	return key, err
}

// misfit describes what is wrong with a link. It is empty for a good link. The column undigested of
// the session has the number of its last event without a digest, here chain.Undigested. If it is 2,
// events 1 and 2 must have no digest, and event 3 and all later ones must have the right one.
func misfit(chain sessionfile.Chain, link sessionfile.Link) string {
	switch {
	case link.Stored != nil && link.Seq <= chain.Undigested:
		return fmt.Sprintf("has a digest, but according to its session events up to %d are older than digests: the column undigested was changed", chain.Undigested)
	case link.Fits:
		return ""
	case link.Stored == nil && link.Seq <= chain.Undigested:
		return "" // from a version without digests
	case link.Stored == nil:
		return fmt.Sprintf("has no digest, but only events up to %d are older than digests: it was inserted, or its digest was removed", chain.Undigested)
	case link.Seq == 1:
		return "the digest does not follow from the event and the session's name and creation time: one of these was changed, or the event was moved here"
	}
	return "the digest does not follow from the event and the previous digest: the event was changed or moved, or an earlier one was deleted or inserted"
}
