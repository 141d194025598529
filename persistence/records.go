package persistence

import (
	"context"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

// Records returns the events that store compaction records which can be read, in the order in which
// they were committed: also those whose summaries no view shows any more. It reads no other event. It
// ignores NumRecentEvents and After of the request. Errors wrap [compaction.ErrNotFound] if there is no
// such session.
func (s *SQLiteSessionService) Records(ctx context.Context, req *session.GetRequest) (events []*session.Event, err error) {
	err = readSession(ctx, s, "get records", req, func(r *reader, sess *storedSession, _ size) error {
		rows, err := r.records.QueryContext(ctx, sess.key)
		events, err = eventrow.Scan(rows, err, 0, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}
