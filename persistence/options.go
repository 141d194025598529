package persistence

import (
	"database/sql"
	"time"

	"github.com/adk-go-ext/longsession/internal/configerr"
)

// defaultBusyTimeout is long enough for several processes that share a slow disk, and short enough
// that a forgotten lock does not block a turn for long.
const defaultBusyTimeout = 10 * time.Second

// Option changes how [NewSQLiteSessionService] opens its file. A nil Option has no effect.
type Option func(*options) error

type options struct {
	db          *sql.DB
	synchronous string
	busy        time.Duration
	readOnly    bool
}

// WithSynchronousNormal makes appends faster, because SQLite no longer waits for the disk at every
// commit. A crash of the process still loses nothing, but a power cut or a crash of the system can
// undo the newest commits. The default is SQLite's synchronous=FULL.
func WithSynchronousNormal() Option {
	return func(o *options) error {
		o.synchronous = "NORMAL"
		return nil
	}
}

// WithBusyTimeout sets how long a call waits while another process holds the lock of the file. The
// default, also for 0, is 10 s, and the minimum is 1 ms. After that time the call returns SQLite's
// error and has stored nothing.
func WithBusyTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d == 0 {
			return nil
		}
		if d < time.Millisecond {
			return refuse("WithBusyTimeout", d, "a timeout below 1 ms fails whenever two processes write at once; 0 is %v", defaultBusyTimeout)
		}
		o.busy = d
		return nil
	}
}

// WithDB uses the caller's database, of any SQLite driver. The path must then be empty. The
// database must belong to this service alone. The service keeps up to 5 of its connections until
// Close, which does not close the database. With a limit of fewer than 5, fewer reads run at once.
// If the database is limited to 1 connection, as one in memory must be, the service keeps the only
// one.
func WithDB(db *sql.DB) Option {
	return func(o *options) error {
		if db == nil {
			return refuse("WithDB", nil, "pass an open *sql.DB, or use a path instead")
		}
		o.db = db
		return nil
	}
}

// refuse returns the error of one refused value. The reason is a format.
func refuse(option string, value any, reason string, args ...any) error {
	var p configerr.Problems
	p.Refuse(option, value, reason, args...)
	return p.Join("persistence")
}

// collect applies options to the defaults, and refuses those that exclude each other.
func collect(opts []Option) (options, error) {
	o := options{synchronous: "FULL", busy: defaultBusyTimeout}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&o); err != nil {
			return options{}, err
		}
	}
	if o.readOnly && o.db != nil {
		return options{}, refuse("WithReadOnly", true, "with WithDB it has no effect: give the path of the file instead of a database, or open that one with mode=ro")
	}
	return o, nil
}
