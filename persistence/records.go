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
	leave, err := enterSession(s, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	defer leave()
	err = s.read(ctx, func(r *reader) error {
		sess, _, err := r.find(ctx, req.AppName, req.UserID, req.SessionID)
		if err != nil {
			return err
		}
		rows, err := r.records.QueryContext(ctx, sess.key)
		events, err = eventrow.Scan(rows, err, 0, nil)
		return err
	})
	if err != nil {
		return nil, s.explain("get records", err)
	}
	return events, nil
}
