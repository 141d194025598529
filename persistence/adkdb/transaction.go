package adkdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// key names one session in ADK's tables.
type key struct{ app, user, id string }

// args are the parameters of whereSession.
func (k key) args() []any { return []any{k.app, k.user, k.id} }

const whereSession = `app_name = ? AND user_id = ? AND session_id = ?`

// sum stands for the session where its names are too long. The lengths keep "a", "bc" apart from "ab", "c".
func (k key) sum() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "longsession %d %d %s%s%s", len(k.app), len(k.user), k.app, k.user, k.id))
}

// hex is sum as text.
func (k key) hex() string {
	sum := k.sum()
	return hex.EncodeToString(sum[:])
}

// maxTries bounds how often a transaction is tried that the server ended because of another one.
const maxTries = 5

// transact runs a function in a transaction. If the server ended that because of another transaction, it is run again.
func (s *Service) transact(ctx context.Context, kind dialect, run func(tx *sql.Tx) error) error {
	options := &sql.TxOptions{}
	if kind == postgreSQL {
		// Each statement must see what was committed before it, behind the lock. A stricter level takes its snapshot before.
		options.Isolation = sql.LevelReadCommitted
	}
	once := func() (struct{}, error) {
		err := s.transactOnce(ctx, options, run)
		if err != nil && !collided(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = 20 * time.Millisecond
	_, err := backoff.Retry(ctx, once, backoff.WithBackOff(pause), backoff.WithMaxTries(maxTries))
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		return permanent.Unwrap()
	}
	return err
}

func (s *Service) transactOnce(ctx context.Context, options *sql.TxOptions, run func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := run(tx); err != nil {
		_ = tx.Rollback() // the connection may be gone
		return err
	}
	return tx.Commit()
}

// collided reports whether the server ended a transaction because of another one.
func collided(err error) bool {
	return hasState(err, "40001", "40P01") || isMySQL(err, 1213, 1205)
}

// hasState reports whether an error of a PostgreSQL driver has one of some SQLSTATE codes. The drivers are not imported;
// pgx and pq have this method.
func hasState(err error, codes ...string) bool {
	var with interface{ SQLState() string }
	return errors.As(err, &with) && slices.Contains(codes, with.SQLState())
}

// isMySQL reports whether an error of MySQL's driver has one of some numbers. The driver is not imported, and its errors have
// no method for that, but their texts begin with the number.
func isMySQL(err error, numbers ...int) bool {
	return slices.ContainsFunc(numbers, func(n int) bool { return strings.Contains(err.Error(), fmt.Sprintf("Error %d ", n)) })
}

// lock keeps other records of the session out until the transaction ends, and finds the session. Turns are not kept out on
// PostgreSQL. On MySQL an append waits for the end of the transaction, because there no lock ends with its transaction but
// one on a row.
func lock(ctx context.Context, tx *sql.Tx, kind dialect, of key) (found bool, err error) {
	statement := `SELECT update_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?`
	if kind == mySQL {
		statement += ` FOR UPDATE`
	} else {
		sum := of.sum()
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(binary.BigEndian.Uint64(sum[:]))); err != nil {
			return false, err
		}
	}
	var at any
	err = tx.QueryRowContext(ctx, kind.sql(statement), of.args()...).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
