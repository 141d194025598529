package databases_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/adk-go-ext/longsession/persistence/adkdb"
)

// strict are settings under which a server ends transactions because of others, or lets them wait for each other.
var strict = map[string]struct {
	engine   *engine
	settings string
}{
	"PostgreSQL repeatable read": {&postgreSQL, " default_transaction_isolation='repeatable read'"},
	"PostgreSQL serializable":    {&postgreSQL, " default_transaction_isolation=serializable"},
	"MariaDB read committed":     {&mariaDB, "&tx_isolation=%27READ-COMMITTED%27"},
	"MariaDB serializable":       {&mariaDB, "&tx_isolation=%27SERIALIZABLE%27"},
}

// TestAnEndedLeasePassesToOneProcessUnderStrictTransactions. A process that gets an error goes on without a lease, so
// that two pay for one summary.
func TestAnEndedLeasePassesToOneProcessUnderStrictTransactions(t *testing.T) {
	for name, c := range strict {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, c.engine)
			b := newBeside(t, s.sessions)
			services := make([]*adkdb.Service, 6)
			for i := range services {
				services[i] = s.over(t, c.settings)
			}
			for round := range 10 {
				type answer struct {
					ok  bool
					err error
				}
				answers := make(chan answer, len(services))
				for _, service := range services {
					go func() {
						_, ok, err := service.Lease(t.Context(), b.live, time.Hour)
						answers <- answer{ok, err}
					}()
				}
				had := 0
				for range services {
					a := <-answers
					if a.err != nil {
						t.Errorf("round %d: %v", round, a.err)
					}
					if a.ok {
						had++
					}
				}
				if had != 1 {
					t.Errorf("round %d: %d processes have the lease", round, had)
				}
				s.exec(t, "UPDATE longsession_leases SET until = '2001-01-01'")
			}
		})
	}
}

// TestLeasesThatManyTakeAndGiveBackAreAllGivenBack, whatever the transactions do to each other. One that stays keeps its
// session from being compacted until its time is over.
func TestLeasesThatManyTakeAndGiveBackAreAllGivenBack(t *testing.T) {
	for name, c := range strict {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, c.engine)
			b := newBeside(t, s.sessions)
			var all sync.WaitGroup
			for range 4 {
				service := s.over(t, c.settings)
				all.Go(func() {
					for range 15 {
						release, ok, err := service.Lease(context.WithoutCancel(t.Context()), b.live, time.Hour)
						if err != nil {
							t.Error(err)
						}
						if ok {
							release()
						}
					}
				})
			}
			all.Wait()
			if left := number(t, s.pool(t), "SELECT count(*) FROM longsession_leases"); left != 0 {
				t.Errorf("%d leases are left", left)
			}
		})
	}
}

// TestALeaseIsGivenBackWhenTheServerIsThereAgain. A server that is started again fails all jobs of that moment, and none of
// their sessions may wait for the end of the lease.
func TestALeaseIsGivenBackWhenTheServerIsThereAgain(t *testing.T) {
	for _, e := range []*engine{&postgreSQL, &mariaDB} {
		t.Run(e.name, func(t *testing.T) {
			s := newStore(t, e)
			dialer := &restarting{driver: s.pool(t).Driver(), dsn: s.dsn()}
			db := sql.OpenDB(dialer)
			defer db.Close()
			db.SetMaxIdleConns(-1) // each transaction connects
			service, err := adkdb.New(s.sessions, db)
			if err != nil {
				t.Fatal(err)
			}
			release, ok, err := service.Lease(t.Context(), newBeside(t, s.sessions).live, time.Hour)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			dialer.refuse.Store(3)
			release()
			if left := number(t, s.pool(t), "SELECT count(*) FROM longsession_leases"); left != 0 || dialer.refuse.Load() != 0 {
				t.Errorf("%d leases are left, %d refusals", left, dialer.refuse.Load())
			}
		})
	}
}

// restarting refuses some connections.
type restarting struct {
	driver driver.Driver
	dsn    string
	refuse atomic.Int32
}

func (r *restarting) Driver() driver.Driver { return r.driver }

func (r *restarting) Connect(context.Context) (driver.Conn, error) {
	if r.refuse.Load() > 0 {
		r.refuse.Add(-1)
		return nil, errors.New("connect: connection refused")
	}
	return r.driver.Open(r.dsn)
}
