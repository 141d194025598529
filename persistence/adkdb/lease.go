package adkdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/adk/session"
)

const (
	// A session is named by a digest, because the names of three columns may be longer than MySQL's keys.
	createLeasesPostgres = `CREATE TABLE IF NOT EXISTS longsession_leases (session CHAR(64) PRIMARY KEY, token TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)`
	createLeasesMySQL    = `CREATE TABLE IF NOT EXISTS longsession_leases (session CHAR(64) PRIMARY KEY, token VARCHAR(64) NOT NULL, until DATETIME(6) NOT NULL)`

	takeLeasePostgres = `INSERT INTO longsession_leases AS l (session, token, until) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond')
	ON CONFLICT (session) DO UPDATE SET token = excluded.token, until = excluded.until WHERE l.until < clock_timestamp()`
	// MySQL assigns from left to right, so the second condition reads the token that the first assignment left.
	takeLeaseMySQL = `INSERT INTO longsession_leases (session, token, until) VALUES (?, ?, TIMESTAMPADD(MICROSECOND, ?, UTC_TIMESTAMP(6)))
	ON DUPLICATE KEY UPDATE token = IF(until < UTC_TIMESTAMP(6), VALUES(token), token), until = IF(token = VALUES(token), VALUES(until), until)`
	hasLease    = `SELECT EXISTS (SELECT 1 FROM longsession_leases WHERE session = ? AND token = ?)`
	giveBack    = `DELETE FROM longsession_leases WHERE session = ? AND token = ?`
	dropExpired = `DELETE FROM longsession_leases WHERE until < `
)

// releaseTimeout bounds giving back a lease, whose job may have been canceled. A server that ends fails all jobs of that
// moment, so until then it is tried again: it may be there again soon, and a lease that is not given back keeps its session
// from being compacted until it expires.
const (
	releaseTimeout = 3 * time.Second
	releasePause   = 100 * time.Millisecond
	// databaseClosed is the text of an error that database/sql does not export.
	databaseClosed = "sql: database is closed"
)

// Lease takes the lease on a session for at most ttl, by the server's clock. It is a row of the table longsession_leases, so
// it works behind a pool that hands out connections by transaction, holds no connection, and ends with its time if the
// process was killed. sess only names the session, which need not exist.
//
// ok is false if another process, or another call, has the lease. release gives back this lease only, may be called more
// than once, and after ctx has ended; it returns within 3 s.
//
// A transaction that the server ends because of another one (40001, deadlock) is tried again, up to 5 times.
//
// The table is created when the first lease is taken, if it is missing. A role that may not create tables gets the error of
// the server; package compaction then goes on without leases and logs that once. Where an app must
// not create tables, let a role that may call Lease once.
func (s *Service) Lease(ctx context.Context, sess session.Session, ttl time.Duration) (release func(), ok bool, err error) {
	switch {
	case isNil(sess):
		return nil, false, errors.New("lease: session is nil")
	case ttl <= 0:
		return nil, false, fmt.Errorf("lease: ttl is %v: it must be positive", ttl)
	}
	kind, err := s.dialect(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("lease: %w", err)
	}
	name, token := key{sess.AppName(), sess.UserID(), sess.ID()}.hex(), rand.Text()
	take := takeLeasePostgres
	if kind == mySQL {
		take = takeLeaseMySQL
	}
	took := func() error {
		if err := s.createLeases(ctx, kind); err != nil {
			return err
		}
		return s.transact(ctx, kind, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, take, name, token, max(1, ttl.Microseconds())); err != nil {
				return err
			}
			// How many rows a statement counts as affected depends on the driver's settings.
			return tx.QueryRowContext(ctx, kind.sql(hasLease), name, token).Scan(&ok)
		})
	}
	err = took()
	if err != nil && (hasState(err, undefinedTable) || isMySQL(err, 1146)) {
		s.leasesDropped() // by somebody else
		err = took()
	}
	if err != nil {
		return nil, false, fmt.Errorf("lease: %w", err)
	}
	if !ok {
		return nil, false, nil
	}
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		_, _ = backoff.Retry(ctx, func() (struct{}, error) {
			err := s.transact(ctx, kind, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, kind.sql(giveBack), name, token)
				return err
			})
			if err != nil && strings.Contains(err.Error(), databaseClosed) {
				err = backoff.Permanent(err)
			}
			return struct{}{}, err
		}, backoff.WithBackOff(backoff.NewConstantBackOff(releasePause)))
	}), true, nil
}

// createLeases creates the table of leases, once for each service, and removes leases that ended long ago: those of processes
// that were killed.
func (s *Service) createLeases(ctx context.Context, kind dialect) error {
	s.mu.Lock()
	done := s.leases
	s.mu.Unlock()
	if done {
		return nil
	}
	exists, create, expired := `SELECT `+besideEvents("longsession_leases"), createLeasesPostgres, `clock_timestamp() - interval '1 day'`
	if kind == mySQL {
		exists = `SELECT EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'longsession_leases')`
		create, expired = createLeasesMySQL, `TIMESTAMPADD(DAY, -1, UTC_TIMESTAMP(6))`
	}
	var there bool
	if err := s.db.QueryRowContext(ctx, exists).Scan(&there); err != nil {
		return err
	}
	if !there {
		// Two processes that create a table at once: in PostgreSQL one of them may fail although it says "if not exists".
		if _, err := s.db.ExecContext(ctx, create); err != nil && !hasState(err, "23505", "42P07", "42710") {
			return fmt.Errorf("create the table longsession_leases: %w", err)
		}
	}
	if err := s.transact(ctx, kind, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, dropExpired+expired)
		return err
	}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = true
	return nil
}

func (s *Service) leasesDropped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases = false
}
