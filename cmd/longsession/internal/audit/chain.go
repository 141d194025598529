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
	b := &breaks{chain: chain}
	for link, err := range chain.Links(ctx, snap) {
		if err != nil {
			return err
		}
		if link.Stored == nil {
			e.undigested++
		}
		b.take(link)
	}
	e.found = append(e.found, b.found...)
	if e.undigested == 0 {
		return nil
	}
	return e.checkUndigested(ctx, snap, chain, firstDigested)
}

// breaks finds the links of a chain that do not fit. Events that all do not fit because they have other numbers than when
// they were stored are one finding, which says how many events are missing in front of them: the digest of an event
// depends on its number.
type breaks struct {
	chain sessionfile.Chain
	found []Finding

	digester sessionfile.Digester
	before   []byte // the stored digest of the event before
	// shift is by how much the numbers of the events in front of the next one are too low, and run the finding about them.
	shift int64
	run   int
	tried int // links that were searched for in vain
}

// mostShifted bounds the numbers that are tried for an event, and mostTried the events for which it is in vain: a file
// that somebody changed everywhere must not take a thousand times as long.
const mostShifted, mostTried = 1000, 100

// take looks at the next link.
func (b *breaks) take(link sessionfile.Link) {
	before := b.before
	b.before = link.Stored
	text := misfit(b.chain, link)
	if text == "" {
		b.shift = 0
		return
	}
	shift, last := b.renumbered(before, link), len(b.found)-1
	switch {
	case shift != 0 && shift == b.shift:
		b.found[b.run].Events++
		b.found[b.run].Last = link.Seq
	case shift != 0 && last >= 0 && b.found[last].last() == link.Seq-1:
		b.begin(last, shift)
		b.found[last].Last = link.Seq
	default:
		b.found = append(b.found, Finding{App: b.chain.App, User: b.chain.User, Session: b.chain.Session, Seq: link.Seq, Event: link.ID, Rule: RuleChain, Text: text, kind: text, shift: b.shift})
	}
}

// begin makes a finding one about a run of events that were renumbered. The first of them does not show it, because the
// digest that it followed is gone.
func (b *breaks) begin(at int, shift int64) {
	of := &b.found[at]
	by, what, numbers := shift-b.shift, "deleted", "higher"
	if by < 0 {
		by, what, numbers = -by, "inserted", "lower"
	}
	were := "events were"
	if by == 1 {
		were = "event was"
	}
	of.kind = fmt.Sprint("renumbered from ", of.Seq)
	of.Text = fmt.Sprintf("%d %s %s in front of it, and those behind renumbered: their digests follow from %s numbers; restore a backup", by, were, what, numbers)
	of.Events, of.shift = 2, shift
	b.shift, b.run = shift, at
}

// renumbered returns by how much the number is higher from which the stored digest of a link follows, 0 if it follows
// from none.
func (b *breaks) renumbered(before []byte, link sessionfile.Link) int64 {
	if len(before) != len(sessionfile.Digest{}) || len(link.Stored) != len(before) {
		return 0
	}
	fits := func(shift int64) bool {
		return b.digester.Next(sessionfile.Digest(before), link.Seq+shift, link.Content) == sessionfile.Digest(link.Stored)
	}
	if b.shift != 0 && fits(b.shift) {
		return b.shift
	}
	if b.tried >= mostTried {
		return 0
	}
	for by := int64(1); by <= mostShifted; by++ {
		for _, shift := range []int64{by, -by} {
			if fits(shift) {
				return shift
			}
		}
	}
	b.tried++
	return 0
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
