package persistence

import (
	"database/sql"
	"fmt"
	"time"
)

// defaultBusyTimeout is long enough for several processes that take turns at a slow disk, and short
// enough that a turn does not hang on a lock that somebody forgot.
const defaultBusyTimeout = 10 * time.Second

// Option changes how [NewSQLiteSessionService] opens its file.
type Option func(*options) error

type options struct {
	db          *sql.DB
	synchronous string
	busy        time.Duration
	readOnly    bool
}

// WithSynchronousNormal makes appends faster: SQLite no longer waits for the disk at every commit. A
// crash of the process still loses nothing, but a power cut or a crash of the system may undo the
// newest commits. The default is SQLite's synchronous=FULL.
func WithSynchronousNormal() Option {
	return func(o *options) error {
		o.synchronous = "NORMAL"
		return nil
	}
}

// WithBusyTimeout sets how long a call waits while another process holds the file's lock, 10 s by
// default and for 0. After that it returns SQLite's error, with nothing stored. At least 1 ms.
func WithBusyTimeout(d time.Duration) Option {
	return func(o *options) error {
		if d == 0 {
			return nil
		}
		if d < time.Millisecond {
			return fmt.Errorf("persistence: WithBusyTimeout(%v): a time-out under 1 ms fails whenever two processes meet", d)
		}
		o.busy = d
		return nil
	}
}

// WithDB uses the caller's database, of any SQLite driver, instead of opening the path, which must then
// be empty. The database must belong to this service alone. The service keeps some of its connections
// until Close, which does not close the database; it is best not limited to fewer than 5 connections.
// With a limit of 1, as a database in memory needs it, the service keeps the only one.
func WithDB(db *sql.DB) Option {
	return func(o *options) error {
		if db == nil {
			return fmt.Errorf("persistence: WithDB(nil): hand over an open *sql.DB, or a path instead")
		}
		o.db = db
		return nil
	}
}

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
		return options{}, fmt.Errorf("persistence: WithReadOnly and WithDB: give the path of the file instead of a database, or open that one with mode=ro")
	}
	return o, nil
}
