package persistence

import (
	"context"

	"google.golang.org/adk/session"
)

// selectActive reads what no record covers, what the view shows all the same, and what a call ties to
// either. It reads no row that it does not return.
const selectActive = `WITH shown (seq, unit) AS (
		SELECT seq, unit FROM events INDEXED BY events_visible WHERE session = ?1 AND covered_by IS NULL
		UNION ALL
		SELECT e.seq, e.unit FROM sessions s CROSS JOIN events e
			WHERE s.key = ?1 AND e.session = ?1 AND e.seq IN (s.last_user, s.last_agent)
		UNION ALL
		SELECT e.seq, e.unit FROM events r INDEXED BY events_visible CROSS JOIN events e
			WHERE r.session = ?1 AND r.covered_by IS NULL AND r.anchor IS NOT NULL AND e.session = ?1 AND e.seq = r.anchor
	), loaded (number) AS (
		SELECT seq FROM shown
		UNION
		SELECT e.seq FROM (SELECT DISTINCT unit FROM shown WHERE unit IS NOT NULL) u
			CROSS JOIN events e INDEXED BY events_units WHERE e.session = ?1 AND e.unit = u.unit
	)
	SELECT ` + eventColumns + ` FROM loaded CROSS JOIN events WHERE session = ?1 AND seq = number ORDER BY number`

var _ session.Session = (*ActiveSession)(nil)

// ActiveSession is a session of which the view is loaded, and what only a summary shows is not. Its other
// methods tell what whoever computes the view or the next compaction must know of the rest, as it was at
// the moment of loading. It is safe for concurrent use, and [SQLiteSessionService.AppendEvent] takes it.
type ActiveSession struct {
	*storedSession
	stored  int
	partial bool
	covered map[string]bool
	// overtaken are the IDs of events with calls, see Overtaken.
	overtaken map[string]bool
}

// Partial reports whether there are stored events that were not loaded.
func (s *ActiveSession) Partial() bool { return s.partial }

// StoredEvents returns how many events were stored, loaded or not, records among them.
func (s *ActiveSession) StoredEvents() int { return s.stored }

// Covered reports whether a record stands for a loaded event, although the view shows it: as the newest
// of its kind, for the sake of a call or an answer, or of a summary that stands behind it. That record
// need not be loaded itself.
func (s *ActiveSession) Covered(eventID string) bool { return s.covered[eventID] }

// Overtaken reports, for a loaded event with function calls, whether the user has said anything since in
// another invocation, in a branch that the event's agent sees, and only an event that was not loaded shows
// it: the call's invocation is over then. It is false where a loaded event shows the same.
func (s *ActiveSession) Overtaken(eventID string) bool { return s.overtaken[eventID] }

// GetActive reads a session with those events only that the view shows, and the records of its summaries,
// all in the order of their commits: it costs what is visible, however long the history is. The view of
// them is that of the whole history if references are resolved by ID only; a view that goes on growing
// must also know what [ActiveSession.Covered] says. Where records compete, as after two processes compacted
// one session at once, the whole history is loaded.
//
// NumRecentEvents and After of the request are about the view, so they are ignored here. Errors wrap
// [session.ErrNotFound] if there is no such session.
func (s *SQLiteSessionService) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	if err := complete(req.AppName, req.UserID, req.SessionID); err != nil {
		return nil, err
	}
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	var found *ActiveSession
	err = s.read(ctx, func(r *reader) error {
		sess, size, err := r.find(ctx, req.AppName, req.UserID, req.SessionID)
		if err != nil {
			return err
		}
		found = &ActiveSession{storedSession: sess, stored: size.events}
		return r.loadActive(ctx, found, size)
	})
	if err != nil {
		return nil, s.explain("get active session", err)
	}
	return &session.GetResponse{Session: found}, nil
}

func (r *reader) loadActive(ctx context.Context, found *ActiveSession, size size) (err error) {
	if size.conflicted {
		rows, err := r.events.QueryContext(ctx, found.key)
		found.events, err = scan(rows, err, size.events, func(row *stored) { found.trackCovered(row) })
		return err
	}
	var seqs []int64
	rows, err := r.active.QueryContext(ctx, found.key)
	found.events, err = scan(rows, err, 0, func(row *stored) {
		seqs = append(seqs, row.seq)
		found.trackCovered(row)
	})
	if err != nil {
		return err
	}
	if found.partial = len(seqs) < size.events; found.partial {
		found.overtaken, err = r.overtaken(ctx, found.key, found.events, seqs)
	}
	return err
}

// note takes in that an event is loaded although it is covered.
func (s *ActiveSession) trackCovered(row *stored) {
	if !row.covered {
		return
	}
	if s.covered == nil {
		s.covered = map[string]bool{}
	}
	s.covered[row.id] = true
}
