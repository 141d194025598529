package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/textindex"
)

const (
	// smallSession and smallResults are how many events and bytes of results are deleted in one transaction.
	smallSession = 256
	smallResults = 8 << 20
	// eraseFor is how long a transaction deletes rows, or merges the index. It deletes eraseStep events before it looks
	// at the clock, and eraseEvents at most, so that merges keep up with deletions.
	eraseFor    = 25 * time.Millisecond
	eraseEvents = 64
	eraseStep   = 8
	// eraseLogEvery is how many transactions pass between truncations of the log, each of which waits for the disk twice.
	eraseLogEvery = 8

	selectSizes = `SELECT key, last_seq, (SELECT coalesce(sum(byte_size), 0) FROM tool_result_blobs WHERE session = key)
		FROM sessions WHERE app = ? AND user = ? AND id = ?`
	listForErasing  = `INSERT INTO erasing (session) SELECT key FROM sessions WHERE app = ? AND user = ? AND id = ?`
	selectErasing   = `SELECT session FROM erasing ORDER BY session LIMIT 1`
	selectIndexedOf = `SELECT coalesce((SELECT documents FROM search_sessions WHERE session = ?), 0),
		(SELECT coalesce(sum(documents), 0) FROM search_sessions)`
	deleteEvents = `DELETE FROM events WHERE key IN (SELECT key FROM events WHERE session = ? ORDER BY seq LIMIT ?)`
)

// deleteOthers empty the other tables, in portions.
var deleteOthers = []string{
	`DELETE FROM calls WHERE (session, id, orphan, branch, seq) IN (SELECT session, id, orphan, branch, seq FROM calls WHERE session = ? LIMIT 256)`,
	`DELETE FROM invocations WHERE (session, id) IN (SELECT session, id FROM invocations WHERE session = ? LIMIT 256)`,
	`DELETE FROM session_state WHERE (session, key) IN (SELECT session, key FROM session_state WHERE session = ? LIMIT 16)`,
	`DELETE FROM tool_result_chunks WHERE rowid IN (SELECT c.rowid FROM tool_result_blobs b JOIN tool_result_chunks c ON c.blob = b.key WHERE b.session = ? LIMIT 16)`,
	`DELETE FROM tool_result_blobs WHERE key IN (SELECT key FROM tool_result_blobs WHERE session = ? LIMIT 16)`,
	`DELETE FROM search_turns WHERE (session, seq) IN (SELECT session, seq FROM search_turns WHERE session = ? LIMIT 256)`,
	`DELETE FROM search_episodes WHERE (session, first) IN (SELECT session, first FROM search_episodes WHERE session = ? LIMIT 256)`,
	`DELETE FROM search_authors WHERE (session, author) IN (SELECT session, author FROM search_authors WHERE session = ? LIMIT 256)`,
	`DELETE FROM search_sessions WHERE session = ?`,
}

// remover deletes sessions. A large session is first made unfindable, by deleting its row in sessions alone, in a
// transaction without foreign keys. Its key is then in the table erasing until its other rows are deleted, in
// portions that let other writers in. For example, a session of 100,000 events is gone for everybody after the
// first of some thousand transactions.
type remover struct{ *SQLiteSessionService }

// remove deletes a session, and whatever is left of others.
func (s remover) remove(ctx context.Context, req *session.DeleteRequest) error {
	large, err := s.isLarge(ctx, req)
	if err != nil {
		return err
	}
	left := false
	first := func() error {
		return s.submit(ctx, &write{alone: large, run: func(w *writer) error {
			w.eraser.deleted()
			if large {
				if _, err := w.Conn.ExecContext(context.Background(), listForErasing, req.AppName, req.UserID, req.SessionID); err != nil {
					return err
				}
			}
			if err := w.do(w.removeSession, req.AppName, req.UserID, req.SessionID); err != nil {
				return err
			}
			return w.Conn.QueryRowContext(context.Background(), "SELECT EXISTS (SELECT 1 FROM erasing)").Scan(&left)
		}})
	}
	if err := s.mending(ctx, first); err != nil || !left {
		return err
	}
	if err := s.mending(ctx, func() error { return s.finish(ctx) }); err != nil {
		s.finishLater()
		return fmt.Errorf("the session is deleted, and its rows are erased later: %w", err)
	}
	return nil
}

// mending calls do, and once more with an empty index if the file is damaged, because it may be the index that is.
func (s remover) mending(ctx context.Context, do func() error) error {
	err := do()
	if !textindex.IsDamage(err) {
		return err
	}
	if emptied := s.text.Empty(ctx); emptied != nil {
		return err
	}
	return do()
}

// isLarge reports whether a session is deleted in portions.
func (s remover) isLarge(ctx context.Context, req *session.DeleteRequest) (large bool, err error) {
	if s.writer == nil {
		return false, nil // refused later
	}
	err = s.read(ctx, func(r *reader) error {
		var key, events, bytes int64
		err := r.Conn.QueryRowContext(ctx, selectSizes, req.AppName, req.UserID, req.SessionID).Scan(&key, &events, &bytes)
		large = events > smallSession || bytes > smallResults
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return large, err
}

// finish erases what is left of deleted sessions, and rests between portions, so that other processes can write.
func (s remover) finish(ctx context.Context) error {
	e := erasure{remover: s}
	for {
		done, took, err := e.portion(ctx)
		if done || err != nil {
			return err
		}
		select {
		case <-time.After(took / 2):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// erasure erases what is left of deleted sessions, in portions. Every other transaction merges the index, so that the
// words of a session leave it while they are few. For example, if a large session alone fills the index, it is
// merged whenever 40% of its rows are deleted.
type erasure struct {
	remover
	merger  textindex.Merger
	session int64 // the one that is being erased
	erased  bool  // no row is left, but perhaps something to merge
	passed  int   // transactions
}

// portion runs one transaction, and reports whether nothing is left to do, and how long the writer took.
func (e *erasure) portion(ctx context.Context) (done bool, took time.Duration, err error) {
	var began time.Time
	err = e.submit(ctx, &write{run: func(w *writer) (err error) {
		began = time.Now()
		if e.erased || e.passed%2 == 1 {
			done, err = e.merger.Step(w.text, e.erased)
			done = done && e.erased
		} else {
			e.erased, err = e.erase(w, began)
		}
		if done || e.passed%eraseLogEvery == 0 {
			w.eraser.deleted()
		}
		return err
	}})
	e.passed++
	return done, time.Since(began), err
}

// erase deletes rows for some time, and reports whether no row is left.
func (e *erasure) erase(w *writer, began time.Time) (done bool, err error) {
	ctx := context.Background()
	for left := eraseEvents; left > 0 && time.Since(began) < eraseFor; left -= eraseStep {
		var key int64
		err := w.Conn.QueryRowContext(ctx, selectErasing).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if key != e.session {
			var documents, all int64
			if err := w.Conn.QueryRowContext(ctx, selectIndexedOf, key).Scan(&documents, &all); err != nil {
				return false, err
			}
			e.session, e.merger = key, textindex.NewMerger(documents, all, eraseFor)
		}
		if err := eraseSome(ctx, w, key); err != nil {
			return false, err
		}
	}
	return false, nil
}

// eraseSome deletes some rows of a deleted session. Without a row left, it takes the session from the list.
func eraseSome(ctx context.Context, w *writer, key int64) error {
	if n, err := deleted(w.Conn.ExecContext(ctx, deleteEvents, key, eraseStep)); n > 0 || err != nil {
		return err
	}
	for _, statement := range deleteOthers {
		if n, err := deleted(w.Conn.ExecContext(ctx, statement, key)); n > 0 || err != nil {
			return err
		}
	}
	_, err := w.Conn.ExecContext(ctx, "DELETE FROM erasing WHERE session = ?", key)
	return err
}

func deleted(result sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// finishLater erases what is left of deleted sessions in the background, until Close. Only one goroutine does so.
func (s remover) finishLater() {
	if !s.finishing.CompareAndSwap(false, true) {
		return
	}
	s.background.Go(func() {
		defer s.finishing.Store(false)
		e := erasure{remover: s}
		for {
			leave, err := s.enter()
			if err != nil {
				return
			}
			done, took, err := e.portion(context.Background())
			leave()
			if done || err != nil {
				return // the next opening or deletion tries again
			}
			time.Sleep(took / 2)
		}
	})
}
