package adkdb

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/record"
)

// whereRecord finds the events that may store records. What else it finds is left out later.
func (d dialect) whereRecord() string {
	if d == postgreSQL {
		return `jsonb_exists(custom_metadata, '` + record.Key + `')`
	}
	return `custom_metadata LIKE '%"` + record.Key + `"%'`
}

// Records returns the events of a session that store compaction records, those that no view shows any more included, the
// oldest first. The filters of the request are ignored. The error wraps [compaction.ErrNotFound] if there is no such
// session.
func (s *Service) Records(ctx context.Context, req *session.GetRequest) ([]*session.Event, error) {
	kind, err := s.dialect(ctx)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	of := key{req.AppName, req.UserID, req.SessionID}
	found, err := recordsOf(ctx, s.db, kind, of)
	if err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	if len(found) > 0 {
		return found, nil
	}
	var exists bool
	err = s.db.QueryRowContext(ctx, kind.sql(`SELECT EXISTS (SELECT 1 FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?)`), of.args()...).Scan(&exists)
	switch {
	case err != nil:
		return nil, fmt.Errorf("records: %w", err)
	case !exists:
		return nil, fmt.Errorf("records: %w: %q", adk.ErrNotFound, req.SessionID)
	}
	return nil, nil
}

// recordsOf returns the events of a session that store records.
func recordsOf(ctx context.Context, from querier, kind dialect, of key) ([]*session.Event, error) {
	rows, err := from.QueryContext(ctx, kind.sql(`SELECT `+eventColumns+` FROM events e WHERE `+whereSession+` AND `)+kind.whereRecord()+` ORDER BY timestamp, id`, of.args()...)
	all, err := scanEvents(rows, err)
	if err != nil {
		return nil, err
	}
	records := all[:0]
	for _, ev := range all {
		if record.Is(ev) {
			records = append(records, ev)
		}
	}
	return records, nil
}
