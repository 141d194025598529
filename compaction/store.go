package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/adk/platform"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/record"
)

// storeTries is how often a record is offered to the inner service: another process may append
// between the read of the update time and the store, which ADK's database service refuses.
const storeTries = 3

// store stores a draft unless it has become pointless. The reason says why, "" for stored.
func (s *CompactionSessionService) store(ctx context.Context, st *sessionState, d *draft) (reason string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	stored, reason, err := s.check(ctx, st, d)
	if stored || reason != "" || err != nil {
		return reason, err
	}
	st.append.Lock()
	defer st.append.Unlock()
	for try := range storeTries {
		if st.isDeleted() {
			return errDeleted.Error(), nil
		}
		if try > 0 { // what seemed to fail may be stored all the same
			if stored, reason, again := s.check(ctx, st, d); stored || reason != "" || again != nil {
				return reason, again
			}
		}
		if err = s.storeOnce(ctx, st, d); err == nil {
			return "", nil
		}
		if errors.Is(err, session.ErrNotFound) || ctx.Err() != nil {
			break
		}
	}
	return "", fmt.Errorf("%w: %w", errNotStored, err)
}

// storeOnce appends the record through a handle of its own, fetched now and stamped with the
// session's last update time: so the record makes no other handle stale, wherever its timestamp puts it.
func (s *CompactionSessionService) storeOnce(ctx context.Context, st *sessionState, d *draft) error {
	req := st.ref.request()
	req.NumRecentEvents = 1
	resp, err := s.inner.Get(ctx, req)
	if err != nil {
		return err
	}
	ev := &session.Event{
		ID:           platform.NewUUID(ctx),
		InvocationID: "e-" + platform.NewUUID(ctx),
		Author:       "user",
		Branch:       d.meta.Branch,
		Timestamp:    resp.Session.LastUpdateTime(),
	}
	record.Set(ev, d.meta)
	if err := s.inner.AppendEvent(ctx, resp.Session, ev); err != nil {
		return err
	}
	d.eventID = ev.ID
	st.publish(ev)
	return nil
}

// check compares a draft with the session as it is stored now. It reports whether the record is
// there already, stored by an attempt that only seemed to fail, or why it has become pointless; and
// it drops references that name no event there, and parks those events.
func (s *CompactionSessionService) check(ctx context.Context, st *sessionState, d *draft) (stored bool, reason string, err error) {
	resp, err := s.load(ctx, st.ref.request())
	switch {
	case errors.Is(err, session.ErrNotFound):
		return false, errDeleted.Error(), nil
	case err != nil:
		return false, "", fmt.Errorf("%w: read the session again: %w", errNotStored, err)
	}
	view, _ := s.viewOf(st.ref, resp.Session)
	if ev := view.Record(d.meta.RecordID); ev != nil {
		d.eventID = ev.ID
		st.publish(ev)
		return true, "", nil
	}
	events, state := view.Raw(), view.State()
	for _, id := range d.meta.Absorbed {
		if !slices.ContainsFunc(state.Live, func(m *record.Metadata) bool { return m.RecordID == id }) {
			return false, "a summary that it absorbs is no longer shown", nil
		}
	}
	var kept []record.Ref
	var named []*session.Event
	for i, at := range view.Find(d.meta.Covered) {
		switch {
		case at < 0 && view.Partial(): // it was there, so a record has hidden it since
			return false, "another record covers its events", nil
		case at < 0 || record.Text(events[at].Branch) != d.meta.Branch:
			st.park(d.events[i])
		case state.CoveredAt(at):
			return false, "another record covers its events", nil
		default:
			kept = append(kept, d.meta.Covered[i])
			named = append(named, d.events[i])
		}
	}
	if len(kept) == 0 && len(d.meta.Covered) > 0 {
		return false, "no stored event can be told from the others by its references", nil
	}
	d.meta.Covered, d.events = kept, named
	return false, "", nil
}
