package adkdb

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// noRecord tells events from records, which store no message.
const noRecord = `NOT coalesce(jsonb_exists(e.custom_metadata, '_adk_compaction'), false)`

// selectActive reads the events that the view needs: the visible ones, the newest event of the user and
// of an agent, the events that summaries are shown behind, and the rest of every unit among them. If $4 is true and the
// newest event of the user answers a call, or a node of a workflow has written it, also those of its invocation, see
// [adk.Resumed]. For example, of
//
//	1 user     covered by r
//	2 agent    covered by r, calls a tool
//	3 agent    a late answer to the call in 2
//	4 record r
//
// it returns 1 as the newest event of the user, 2 because 3 is of the same unit, 3 and 4. It is one
// statement, so that it sees one state of the database. It has no rows if the session is not exact.
// OFFSET 0 makes PostgreSQL look up each event by the primary key. Events of one time come as they were stored, which is
// their place in the table; ADK's service gives them in any order.
var selectActive = `WITH s AS MATERIALIZED (
		SELECT key FROM longsession_sessions WHERE app_name = $1 AND user_id = $2 AND session_id = $3 AND state = 'exact'
			AND EXISTS (SELECT FROM longsession_schema WHERE version = ` + strconv.Itoa(schemaVersion) + `) AND ` + besideEvents("longsession_schema") + `
	), v AS MATERIALIZED (
		SELECT v.event_id, v.anchor, v.events, v.last_user, v.last_agent FROM s JOIN longsession_visible v ON v.session = s.key
	), counts AS MATERIALIZED (
		SELECT sum(events)::bigint AS stored, max(last_user) AS last_user, max(last_agent) AS last_agent FROM v
	), answered AS MATERIALIZED (
		SELECT e.invocation_id FROM s CROSS JOIN counts CROSS JOIN LATERAL (SELECT e.* FROM events e WHERE $4::boolean
			AND e.app_name = $1 AND e.user_id = $2 AND e.session_id = $3 AND e.timestamp = counts.last_user AND e.author = 'user' AND ` + noRecord + ` OFFSET 0) e
			WHERE EXISTS (SELECT FROM longsession_calls c WHERE c.session = s.key AND c.event_id = e.id AND c.answer) OR ` + ofNode("e.") + `
	), shown AS MATERIALIZED (
		SELECT event_id, true AS visible FROM v
		UNION ALL
		SELECT anchor, false FROM v WHERE anchor IS NOT NULL
		UNION ALL
		SELECT e.id, false FROM counts CROSS JOIN LATERAL (SELECT e.id FROM events e WHERE e.app_name = $1 AND e.user_id = $2
			AND e.session_id = $3 AND e.timestamp = counts.last_user AND e.author = 'user' AND ` + noRecord + ` OFFSET 0) e
		UNION ALL
		SELECT e.id, false FROM counts CROSS JOIN LATERAL (SELECT e.id FROM events e WHERE e.app_name = $1 AND e.user_id = $2
			AND e.session_id = $3 AND e.timestamp = counts.last_agent AND e.author NOT IN ('user', '') AND ` + noRecord + ` OFFSET 0) e
		UNION ALL
		SELECT e.id, false FROM answered CROSS JOIN LATERAL (SELECT e.id FROM events e WHERE e.app_name = $1 AND e.user_id = $2
			AND e.session_id = $3 AND e.invocation_id = answered.invocation_id AND ` + noRecord + ` OFFSET 0) e
	), units AS MATERIALIZED (
		SELECT DISTINCT c.unit FROM s CROSS JOIN shown CROSS JOIN LATERAL (SELECT c.unit FROM longsession_calls c
			WHERE c.session = s.key AND c.event_id = shown.event_id OFFSET 0) c
	), needed AS MATERIALIZED (
		SELECT event_id, bool_or(visible) AS visible FROM (
			SELECT event_id, visible FROM shown
			UNION ALL
			SELECT c.event_id, false FROM s CROSS JOIN units CROSS JOIN LATERAL (SELECT c.event_id FROM longsession_calls c
				WHERE c.session = s.key AND c.unit = units.unit OFFSET 0) c
		) n GROUP BY event_id
	)
	SELECT counts.stored, needed.visible, ` + eventColumns + `
	FROM counts CROSS JOIN needed CROSS JOIN LATERAL (SELECT e.ctid AS place, e.* FROM events e WHERE e.id = needed.event_id AND e.app_name = $1
		AND e.user_id = $2 AND e.session_id = $3 OFFSET 0) e
	ORDER BY e.timestamp, e.place`

// selectOvertaking reports whether the user wrote a message after a time, in another invocation and
// in a branch that the agent of an event sees. It looks only at messages that are not visible, because all others
// are loaded.
var selectOvertaking = `SELECT EXISTS (
	SELECT FROM longsession_sessions s JOIN events e ON e.app_name = s.app_name AND e.user_id = s.user_id AND e.session_id = s.session_id
		WHERE s.app_name = $1 AND s.user_id = $2 AND s.session_id = $3 AND e.timestamp > $4 AND e.author = 'user'
		AND e.invocation_id IS DISTINCT FROM $5
		AND (coalesce(e.branch, '') IN ('', $6) OR $6 = '' OR starts_with($6, e.branch || '.')) AND ` + scope("e.") + ` = $7
		AND CASE jsonb_typeof(e.content -> 'parts') WHEN 'array' THEN jsonb_array_length(e.content -> 'parts') > 0 END
		AND NOT EXISTS (SELECT FROM longsession_visible v WHERE v.session = s.key AND v.event_id = e.id))`

var _ session.Session = (*ActiveSession)(nil)

// ActiveSession is a session with the events of its view only. Events that are visible only through
// a summary are not loaded. Its additional methods describe the events that are not loaded, as of
// the time of loading: the view and the next compaction need these facts. It is safe for concurrent
// use, and [Service.AppendEvent] accepts it.
type ActiveSession struct {
	// Session is the inner service's, without the events that were stored when it was loaded. It has the state, the
	// update time, and what is appended.
	session.Session
	before    int // events of Session that do not count: those loaded with it
	loaded    []*session.Event
	stored    int
	covered   map[string]bool
	overtaken map[string]bool
}

// Events returns a snapshot of the loaded events and of those that were appended through this handle
// since. Later appends do not change it.
func (s *ActiveSession) Events() session.Events {
	all := slices.Clip(s.loaded)
	later := s.Session.Events()
	for i := s.before; i < later.Len(); i++ {
		all = append(all, later.At(i))
	}
	return events(all)
}

// Partial reports whether some stored events are not loaded.
func (s *ActiveSession) Partial() bool { return len(s.loaded) < s.stored }

// StoredEvents returns the number of events that were stored when the session was loaded, loaded or not, records
// included.
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

type events []*session.Event

func (e events) All() iter.Seq[*session.Event] { return slices.Values(e) }

func (e events) Len() int { return len(e) }

func (e events) At(i int) *session.Event {
	if i < 0 || i >= len(e) {
		return nil
	}
	return e[i]
}

// never is a time after all events: a Get with it returns a session without history.
var never = time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)

// GetActive reads a session with only the events that the view shows and the records of its
// summaries, in the order of their times, as [Service.Get] has them. The cost depends on the size of the view,
// however long the history is, but right after the answer to a call, or after what a node of a workflow has written in the
// user's name, on ADK v2, when the invocation is looked for in the whole session. It needs PostgreSQL and the tables of
// [Install]; without them it is Get.
//
// The view of these events is the view of the whole history, if references are resolved by ID only.
// A view that then grows also needs [ActiveSession.Covered]. If records of the session contradict each other,
// for example after two processes compacted it at once, GetActive loads the whole history.
//
// It ignores NumRecentEvents and After of the request, because they apply to the view. Errors are those of Get.
func (s *Service) GetActive(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	whole := &session.GetRequest{AppName: req.AppName, UserID: req.UserID, SessionID: req.SessionID}
	if !s.partial.wanted() {
		return s.inner.Get(ctx, whole)
	}
	if kind, err := s.dialect(ctx); err != nil || kind != postgreSQL {
		return s.inner.Get(ctx, whole) // which also reports why the server cannot be reached
	}
	// The session is read before its events: an event that is stored in between makes the handle stale, and the
	// next append is refused. In the other order it would be missing from the view of a handle that is up to date.
	bare := *whole
	bare.NumRecentEvents, bare.After = 1, never
	resp, err := s.inner.Get(ctx, &bare)
	if err != nil {
		return nil, err
	}
	if resp == nil || adk.IsNil(resp.Session) {
		return nil, fmt.Errorf("get active session: the inner service returned no session: %w", adk.ErrNotFound)
	}
	found := &ActiveSession{Session: resp.Session, before: resp.Session.Events().Len()}
	ok, err := s.loadActive(ctx, found)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("get active session: %w", err)
	case err != nil || !ok:
		s.partial.failed(err)
		return s.inner.Get(ctx, whole)
	}
	return &session.GetResponse{Session: found}, nil
}

// partialState remembers that the tables are missing, so that not every session costs an attempt.
type partialState struct{ missing atomic.Int64 } // when that was seen, in nanoseconds, 0 for never

// lookAgain is how long a service believes that the tables of [Install] are missing.
const lookAgain = 10 * time.Second

func (p *partialState) wanted() bool {
	at := p.missing.Load()
	return at == 0 || time.Since(time.Unix(0, at)) > lookAgain
}

// failed takes note of the error that kept a session from being loaded in part.
func (p *partialState) failed(err error) {
	if hasState(err, undefinedTable, undefinedColumn, insufficientPrivilege) {
		p.missing.Store(time.Now().UnixNano())
	}
}

// loadActive loads the events of a session. ok is false if only the whole session will do.
func (s *Service) loadActive(ctx context.Context, into *ActiveSession) (ok bool, err error) {
	for range rebuildTries { // dropping the tables may meet this statement
		if ok, err = s.selectActive(ctx, into); !hasState(err, deadlockDetected, serializationFailure) {
			break
		}
	}
	if !ok || err != nil || !into.Partial() {
		return ok, err
	}
	into.overtaken, err = s.overtaken(ctx, into)
	return err == nil, err
}

func (s *Service) selectActive(ctx context.Context, into *ActiveSession) (ok bool, err error) {
	rows, err := s.db.QueryContext(ctx, selectActive, into.AppName(), into.UserID(), into.ID(), adk.ResumesRuns)
	if err != nil {
		return false, err
	}
	defer func() { _ = rows.Close() }()
	into.loaded, into.covered = nil, map[string]bool{}
	visible := 0
	for rows.Next() {
		var row storedEvent
		var shown bool
		if err := rows.Scan(append([]any{&into.stored, &shown}, row.fields()...)...); err != nil {
			return false, err
		}
		ev, err := row.event()
		if err != nil {
			return false, err
		}
		if m, err := record.From(ev); err != nil || m == nil && record.Is(ev) {
			return false, nil // it hides nothing, although the tables have it as a record
		}
		if shown {
			visible++
		} else {
			into.covered[ev.ID] = true
		}
		into.loaded = append(into.loaded, ev)
	}
	return len(into.loaded) > 0 && visible <= into.stored, rows.Err()
}

// overtaken returns the IDs of loaded events with open calls whose invocation ended with a message
// that is not loaded. For example, of
//
//	1 agent   calls a tool, and the process is killed
//	2 user    a message of the next invocation, covered by r
//	3 record r
//
// only 1 and 3 are loaded. Without event 2, the call would seem to be running. overtaken queries the database only
// if no loaded message answers the question, which is the case for calls of a running turn.
func (s *Service) overtaken(ctx context.Context, in *ActiveSession) (map[string]bool, error) {
	found := map[string]bool{}
	for _, i := range adk.OpenCalls(in.loaded) { // a loaded answer's call is always loaded too
		ev := in.loaded[i]
		var over bool
		if err := s.db.QueryRowContext(ctx, selectOvertaking, in.AppName(), in.UserID(), in.ID(), ev.Timestamp, ev.InvocationID, ev.Branch, adk.ScopeOf(ev)).Scan(&over); err != nil {
			return nil, err
		}
		if over {
			found[ev.ID] = true
		}
	}
	return found, nil
}

// innerOf returns the inner service's session of one that [Service.GetActive] returned, and any other session as it is.
func innerOf(sess session.Session) session.Session {
	if s, ok := sess.(*ActiveSession); ok && s != nil {
		return s.Session
	}
	return sess
}
