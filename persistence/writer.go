package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/adk-go-ext/longsession/internal/sessionfile"
	"github.com/adk-go-ext/longsession/internal/textindex"
)

// maxBatch limits how many writes share a commit. It also limits how long readers of a database in
// memory wait.
const maxBatch = 128

// write is one change of the file. Writes that wait at the same time share one transaction, because
// most of the cost of a write is that of the commit. For example, if a, b and c wait and b fails,
// the writer runs
//
//	BEGIN, a, savepoint, b, rollback to the savepoint, c, COMMIT
//
// and only the caller of b gets an error.
type write struct {
	ctx context.Context
	// run makes the change inside the transaction. It may be called again after a failed
	// transaction.
	run func(*writer) error
	// committed is called after the commit, in the order of commits, before the caller continues.
	// It may be nil.
	committed func()
	// alone gives the write a transaction of its own, without foreign keys.
	alone bool

	claimed atomic.Bool // by the writer, or by a caller that gave up
	done    chan error
}

// submit passes w to the writer and waits. If ctx ends before the writer claims w, nothing is
// stored. After that, submit waits for the true outcome.
func (s *SQLiteSessionService) submit(ctx context.Context, w *write) error {
	if s.writer == nil {
		return fmt.Errorf("%w: open the file without WithReadOnly", ErrReadOnly)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.ctx, w.done = ctx, make(chan error, 1)
	select {
	case s.queue <- w:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		if w.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return <-w.done
	}
}

// serve stores writes in batches until the queue is closed. A batch is everything that waits at
// that moment, so a single caller never waits for others.
func (s *SQLiteSessionService) serve() {
	defer close(s.done)
	for first := range s.queue {
		batch := []*write{first}
		var alone *write
	more:
		for len(batch) < maxBatch && !first.alone {
			select {
			case w, open := <-s.queue:
				if !open {
					break more
				}
				if w.alone {
					alone = w
					break more
				}
				batch = append(batch, w)
			default:
				break more
			}
		}
		s.store(batch)
		if alone != nil {
			s.store([]*write{alone})
		}
	}
}

// store stores a batch in one transaction and reports the outcomes to its callers. It takes the
// write lock before it claims the writes, so a caller can still give up while another process holds
// the lock. If the transaction as a whole fails, store repeats each write in a transaction of its
// own, and only writes that fail again report an error.
func (s *SQLiteSessionService) store(batch []*write) {
	if s.single {
		r := <-s.pool
		defer func() { s.pool <- r }()
	}
	err := s.place.Check()
	if err == nil && batch[0].alone {
		ctx := context.Background()
		err = sessionfile.Pragmas(ctx, s.writer.Conn, "foreign_keys = OFF")
		defer func() { _ = sessionfile.Pragmas(ctx, s.writer.Conn, "foreign_keys = ON") }() // fails only within a transaction
	}
	if err == nil {
		err = s.writer.do(s.writer.begin)
	}
	batch = claim(batch)
	if err != nil {
		answer(batch, err)
		return
	}
	if len(batch) == 0 {
		s.writer.undo()
		return
	}
	errs, err := s.writer.transact(batch)
	defer func() { s.writer.countWrites(len(batch)) }()
	if err == nil {
		for i, w := range batch {
			if errs[i] == nil && w.committed != nil {
				w.committed()
			}
			w.done <- errs[i]
		}
		return
	}
	if len(batch) == 1 {
		answer(batch, err)
		return
	}
	// No write may fail because of another one, so each gets a transaction of its own.
	for _, w := range batch {
		s.writer.storeAlone(w)
	}
}

// storeAlone stores one write in a transaction of its own.
func (w *writer) storeAlone(one *write) {
	err := w.do(w.begin)
	if err == nil {
		_, err = w.transact([]*write{one})
	}
	if err == nil && one.committed != nil {
		one.committed()
	}
	one.done <- err
}

// claim returns the writes whose callers still wait. From then on these callers wait for the
// outcome, whatever becomes of their contexts.
func claim(batch []*write) []*write {
	claimed := batch[:0]
	for _, w := range batch {
		if !w.claimed.CompareAndSwap(false, true) {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			w.done <- err
			continue
		}
		claimed = append(claimed, w)
	}
	return claimed
}

// answer reports one outcome to all callers of a batch.
func answer(batch []*write, err error) {
	for _, w := range batch {
		w.done <- err
	}
}

// writer is the one connection that writes, with its statements.
type writer struct {
	sessionfile.Statements
	begin, commit, rollback                       *sql.Stmt
	savepoint, rollbackTo, release                *sql.Stmt
	addSession, removeSession, sessionState       *sql.Stmt
	addEvent, touchSession, findEvent             *sql.Stmt
	setSessionState, setUserState, setAppState    *sql.Stmt
	addInvocation, unitOfCall, joinUnit           *sql.Stmt
	addCall, setConflicted, ignoreCopy, setAnchor *sql.Stmt
	coverEvent, coverRecord                       *sql.Stmt
	findTarget, findRecord, lengthen              *sql.Stmt
	allEvents, findHead, chain                    *sql.Stmt
	addBlob, addChunk, findSession                *sql.Stmt

	text   *textindex.Writer
	busy   time.Duration
	eraser eraser
	// keepsLog is false for a database in memory. unmarked counts the writes since the log mark was
	// renewed.
	keepsLog bool
	unmarked int
	digests  sessionfile.Digester
	heads    map[int64]head // by session, of committed transactions and of the running one
}

// newWriter prepares the statements of the writer on its connection.
func newWriter(ctx context.Context, conn *sql.Conn, busy time.Duration) (*writer, error) {
	w := &writer{Statements: sessionfile.Statements{Conn: conn}, busy: busy}
	w.text = textindex.NewWriter(&w.Statements)
	err := w.Prepare(ctx, map[string]**sql.Stmt{
		"BEGIN IMMEDIATE":       &w.begin,
		"COMMIT":                &w.commit,
		"ROLLBACK":              &w.rollback,
		"SAVEPOINT one":         &w.savepoint,
		"ROLLBACK TO one":       &w.rollbackTo,
		"RELEASE one":           &w.release,
		insertSession:           &w.addSession,
		deleteSession:           &w.removeSession,
		selectState:             &w.sessionState,
		insertEvent:             &w.addEvent,
		updateSession:           &w.touchSession,
		selectEventID:           &w.findEvent,
		upsertSessionState:      &w.setSessionState,
		upsertUserState:         &w.setUserState,
		upsertAppState:          &w.setAppState,
		insertInvocation:        &w.addInvocation,
		selectUnit:              &w.unitOfCall,
		updateUnit:              &w.joinUnit,
		insertCall:              &w.addCall,
		updateConflicted:        &w.setConflicted,
		updateCopy:              &w.ignoreCopy,
		updateAnchor:            &w.setAnchor,
		updateCovered:           &w.coverEvent,
		updateAbsorbed:          &w.coverRecord,
		selectTarget:            &w.findTarget,
		selectRecordByID:        &w.findRecord,
		updateLength:            &w.lengthen,
		selectEvents:            &w.allEvents,
		selectHead:              &w.findHead,
		sessionfile.SelectChain: &w.chain,
		insertBlob:              &w.addBlob,
		insertChunk:             &w.addChunk,
		selectSessionKey:        &w.findSession,
	})
	if err != nil {
		return nil, errors.Join(err, w.Statements.Close())
	}
	return w, nil
}

// transact runs a batch in the current transaction and commits it. errs has the outcome of each
// write. If err is not nil, nothing is stored.
func (w *writer) transact(batch []*write) (errs []error, err error) {
	if len(batch) == 1 {
		err = batch[0].run(w)
		if err == nil {
			err = w.do(w.commit)
		}
		if err != nil {
			w.undo()
		} else {
			w.erase()
		}
		return []error{nil}, err
	}
	errs = make([]error, len(batch))
	for i, one := range batch {
		if errs[i], err = w.runApart(one); err != nil {
			w.undo()
			return nil, err
		}
	}
	if err := w.do(w.commit); err != nil {
		w.undo()
		return nil, err
	}
	w.erase()
	return errs, nil
}

// runApart runs one write in a savepoint, so that its failure does not affect the others. broken
// means that the whole transaction is lost. For example, SQLite ends it by itself when the disk is
// full.
func (w *writer) runApart(one *write) (failed, broken error) {
	if err := w.do(w.savepoint); err != nil {
		return nil, err
	}
	failed = one.run(w)
	if failed != nil {
		w.heads = nil
		if err := w.do(w.rollbackTo); err != nil {
			return nil, errors.Join(failed, err)
		}
	}
	return failed, w.do(w.release)
}

// undo rolls the transaction back. That fails only if SQLite has ended it already.
func (w *writer) undo() {
	w.heads = nil
	_ = w.do(w.rollback)
}

// do runs a statement without the context of a caller, because a transaction that began must end.
func (w *writer) do(stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(context.Background(), args...)
	return err
}

func (w *writer) close() error { return errors.Join(w.Statements.Close(), w.Conn.Close()) }
