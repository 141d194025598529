package persistence

import (
	"context"
	"fmt"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/textindex"
	"github.com/adk-go-ext/longsession/layer/recall/index"
)

var _ index.Index = (*SQLiteSessionService)(nil)

// IndexText takes the events of a session into the index of words, up to the newest event that a compaction record
// covers. It writes 64 events in a transaction, so other writes wait for some milliseconds. What is indexed already
// is not read again, and after an error or a crash the next call carries on. Appending an event never indexes it.
//
// redact returns a text without what must not be indexed. It must always be the same function for a file, pure and
// safe for concurrent use. Nil changes nothing. The request's filters are ignored. Errors wrap [compaction.ErrNotFound]
// if there is no such session, and [ErrReadOnly].
func (s *SQLiteSessionService) IndexText(ctx context.Context, req *session.GetRequest, redact func(string) string) error {
	leave, err := enterSession(s, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return err
	}
	defer leave()
	if s.writer == nil {
		return s.explain("index session", fmt.Errorf("%w: open the file without WithReadOnly", ErrReadOnly))
	}
	return s.explain("index session", s.text.Update(ctx, req, redact))
}

// SearchText returns the events of a session that fit a query best, the best first. It takes in first what was
// appended since the session was indexed last, 64 events in a transaction, as [SQLiteSessionService.IndexText] does.
//
// If the index cannot be used, it reads all events of the session and searches them in memory, which finds the same
// but takes about 50 us for each event that it has not read before: in a file that was opened for reading only and
// is not indexed up to its newest event, in one that cannot be written now, such as on a full disk, and if the index
// is damaged and cannot be made anew.
//
// Errors wrap [compaction.ErrNotFound] if there is no such session. A panic of the query's Redact is an error, too.
func (s *SQLiteSessionService) SearchText(ctx context.Context, req *session.GetRequest, q index.Query) ([]index.Hit, error) {
	leave, err := enterSession(s, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	defer leave()
	hits, err := s.text.Search(ctx, req, q)
	if err != nil {
		return nil, s.explain("search session", err)
	}
	return hits, nil
}

// indexedFile is a session file as its index of words needs it.
type indexedFile struct{ *SQLiteSessionService }

func (f indexedFile) Read(ctx context.Context, do func(*textindex.Reader) error) error {
	return f.read(ctx, func(r *reader) error { return do(r.text) })
}

func (f indexedFile) Write(ctx context.Context, do func(*textindex.Writer) error) error {
	return f.submit(ctx, &write{run: func(w *writer) error {
		w.text.Large = false
		err := do(w.text)
		if w.text.Large {
			w.eraser.grown()
		}
		return err
	}})
}

func (f indexedFile) Writes() bool { return f.writer != nil }
