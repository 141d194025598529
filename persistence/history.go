package persistence

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/eventrow"
)

const selectPage = `SELECT ` + eventrow.Columns + ` FROM events WHERE session = ? AND seq >= ? ORDER BY seq LIMIT ?`

// History reads a page of all stored events of a session, records included, in the order in which
// they were committed. The page has at most limit events, at least 1, beginning with the event
// number from. The first event has the number 1, and 0 means 1 too. next is the number with which
// the following page begins. At the end of the session the page is empty, and next is unchanged
// until new events are appended.
//
// History ignores NumRecentEvents and After of the request. Errors wrap [compaction.ErrNotFound] if
// there is no such session.
func (s *SQLiteSessionService) History(ctx context.Context, req *session.GetRequest, from int64, limit int) (page []*session.Event, next int64, err error) {
	if limit < 1 || from < 0 {
		return nil, 0, fmt.Errorf("history from event %d, limit %d: from must be at least 0 and limit at least 1", from, limit)
	}
	from = max(from, 1)
	err = readSession(ctx, s, "read history", req, func(r *reader, sess *storedSession, of size) error {
		rows, err := r.page.QueryContext(ctx, sess.key, from, limit)
		page, err = eventrow.Scan(rows, err, int(min(int64(limit), max(0, int64(of.events)-from+1))), nil)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return page, from + int64(len(page)), nil
}
