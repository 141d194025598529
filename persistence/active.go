package persistence

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// selectActive reads the rows that the view needs: rows that no record covers (including records),
// covered rows that the view shows anyway, and the rest of every unit among them. It reads no row
// that it does not return, unless ?2 is true and the newest message of the user answers a call, see [adk.Resumed]: then it
// looks for the rows of the call's invocation among all since the user began it, or among all if it has begun without a
// message, see [adk.RunEvents]. For example, of
//
//	1 user     covered by r
//	2 agent    covered by r, calls a tool
//	3 agent    a late answer to the call in 2
//	4 record r
//
// it returns 1 as the newest event of the user, 2 because 3 is of the same unit, 3 and 4.
const selectActive = `WITH shown (seq, unit) AS (
		SELECT seq, unit FROM events INDEXED BY events_visible WHERE session = ?1 AND covered_by IS NULL
		UNION ALL
		SELECT e.seq, e.unit FROM sessions s CROSS JOIN events e
			WHERE s.key = ?1 AND e.session = ?1 AND e.seq IN (s.last_user, s.last_agent)
		UNION ALL
		SELECT e.seq, e.unit FROM events r INDEXED BY events_visible CROSS JOIN events e
			WHERE r.session = ?1 AND r.covered_by IS NULL AND r.anchor IS NOT NULL AND e.session = ?1 AND e.seq = r.anchor
		UNION ALL
		SELECT e.seq, e.unit FROM sessions s CROSS JOIN events a CROSS JOIN invocations i CROSS JOIN events e
			WHERE ?2 AND s.key = ?1 AND a.session = ?1 AND a.seq = s.last_user AND i.session = ?1 AND i.id = a.invocation_id
			AND (a.unit IS NOT NULL OR EXISTS (SELECT 1 FROM events u WHERE u.session = ?1 AND u.seq >= i.began AND u.seq < a.seq
				AND u.invocation_id = a.invocation_id AND u.author = 'user' AND u.unit IS NOT NULL))
			AND e.session = ?1 AND e.seq < a.seq AND e.invocation_id = a.invocation_id
			AND e.seq >= iif((SELECT o.author FROM events o WHERE o.session = ?1 AND o.seq = i.began) = 'user', i.began, 0)
	), loaded (number) AS (
		SELECT seq FROM shown
		UNION
		SELECT e.seq FROM (SELECT DISTINCT unit FROM shown WHERE unit IS NOT NULL) u
			CROSS JOIN events e INDEXED BY events_units WHERE e.session = ?1 AND e.unit = u.unit
	)
	SELECT ` + eventrow.Columns + ` FROM loaded CROSS JOIN events WHERE session = ?1 AND seq = number ORDER BY number`

var _ session.Session = (*ActiveSession)(nil)

// ActiveSession is a session with the events of its view only. Events that are visible only through
// a summary are not loaded. Its additional methods describe the events that are not loaded, as of
// the time of loading: the view and the next compaction need these facts. It is safe for concurrent
// use, and [SQLiteSessionService.AppendEvent] accepts it.
type ActiveSession struct {
	*storedSession
	stored  int
	partial bool
	covered map[string]bool
	// overtaken has the IDs of events with calls, see Overtaken.
	overtaken map[string]bool
}

// Partial reports whether some stored events are not loaded.
func (s *ActiveSession) Partial() bool { return s.partial }

// StoredEvents returns the number of stored events, loaded or not, records included.
func (s *ActiveSession) StoredEvents() int { return s.stored }

// Covered reports whether a record covers a loaded event. The view shows such an event as the
// newest of its author's kind, as part of a unit, as the anchor of a summary, or because the user
// goes on with its run. The record itself
// may not be loaded.
func (s *ActiveSession) Covered(eventID string) bool { return s.covered[eventID] }

// Overtaken reports, for a loaded event with function calls, whether a later message of the user
// that is not loaded ended the calls' invocation. Such a message belongs to another invocation and
// to a branch that the event's agent sees. Overtaken is false if a loaded message shows the same.
func (s *ActiveSession) Overtaken(eventID string) bool { return s.overtaken[eventID] }

// GetActive reads a session with only the events that the view shows and the records of its
// summaries, in the order in which they were committed. The cost depends on the size of the view,
// however long the history is; right after the answer to a call, on ADK v2, also on how much was
// stored since the user began the call's invocation, or at all if that began without a message.
//
// The view of these events is the view of the whole history, if references are resolved by ID only.
// A view that then grows also needs [ActiveSession.Covered]. If records of the session conflict,
// for example after two processes compacted it at once, GetActive loads the whole history.
//
// It ignores NumRecentEvents and After of the request, because they apply to the view. Errors wrap
// [compaction.ErrNotFound] if there is no such session.
func (s *SQLiteSessionService) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	var found *ActiveSession
	err := readSession(ctx, s, "get active session", req, func(r *reader, sess *storedSession, of size) error {
		found = &ActiveSession{storedSession: sess, stored: of.events}
		return r.loadActive(ctx, found, of)
	})
	if err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: found}, nil
}

// loadActive loads the events of a session that was found.
func (r *reader) loadActive(ctx context.Context, found *ActiveSession, size size) (err error) {
	if size.conflicted {
		rows, err := r.events.QueryContext(ctx, found.key)
		found.events, err = eventrow.Scan(rows, err, size.events, func(row *eventrow.Stored) { found.trackCovered(row) })
		return err
	}
	var seqs []int64
	rows, err := r.active.QueryContext(ctx, found.key, adk.ResumesRuns)
	found.events, err = eventrow.Scan(rows, err, 0, func(row *eventrow.Stored) {
		seqs = append(seqs, row.Seq)
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

// trackCovered adds a loaded event that a record covers.
func (s *ActiveSession) trackCovered(row *eventrow.Stored) {
	if !row.Covered {
		return
	}
	if s.covered == nil {
		s.covered = map[string]bool{}
	}
	s.covered[row.ID] = true
}
