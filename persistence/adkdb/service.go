package adkdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"google.golang.org/adk/session"
)

var _ session.Service = (*Service)(nil)

// Service is ADK's database session service, and what package compaction asks of an inner service besides. It is safe for
// concurrent use. It keeps no session and no connection of its own, so any number may be over one database, in any
// number of processes.
type Service struct {
	inner session.Service // ADK's own
	db    *sql.DB

	mu     sync.Mutex
	kind   dialect // unknown until the server was reached once
	leases bool    // their table is there

	partial partialState
}

// New returns a service over ADK's database service and a connection pool for the same database. The pool stays the
// caller's: the service never closes it. The server is first asked for something when a record is stored, so it need
// not be reachable yet.
//
// inner must be what database.NewSessionService returns, or pass sessions and events through unchanged.
func New(inner session.Service, db *sql.DB) (*Service, error) {
	switch {
	case isNil(inner):
		return nil, errors.New("adkdb: inner session service is nil: give it what database.NewSessionService returns")
	case db == nil:
		return nil, errors.New("adkdb: db is nil: open the same database with sql.Open")
	}
	if _, nested := inner.(*Service); nested {
		return nil, errors.New("adkdb: inner session service is a *adkdb.Service already: wrap ADK's service once")
	}
	return &Service{inner: inner, db: db}, nil
}

// Unwrap returns the inner service, as it was given.
func (s *Service) Unwrap() session.Service { return s.inner }

// Create is ADK's.
func (s *Service) Create(ctx context.Context, req *session.CreateRequest) (*session.CreateResponse, error) {
	return s.inner.Create(ctx, req)
}

// Get is ADK's: it returns the whole session.
func (s *Service) Get(ctx context.Context, req *session.GetRequest) (*session.GetResponse, error) {
	return s.inner.Get(ctx, req)
}

// List is ADK's.
func (s *Service) List(ctx context.Context, req *session.ListRequest) (*session.ListResponse, error) {
	return s.inner.List(ctx, req)
}

// Delete is ADK's.
func (s *Service) Delete(ctx context.Context, req *session.DeleteRequest) error {
	return s.inner.Delete(ctx, req)
}

// AppendEvent is ADK's. It also takes what [Service.GetActive] returned.
func (s *Service) AppendEvent(ctx context.Context, sess session.Session, ev *session.Event) error {
	return s.inner.AppendEvent(ctx, innerOf(sess), ev)
}

func isNil(v any) bool {
	if v == nil {
		return true
	}
	of := reflect.ValueOf(v)
	switch of.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Interface, reflect.Slice, reflect.Chan:
		return of.IsNil()
	}
	return false
}

// dialect is the SQL that a server speaks.
type dialect int

const (
	unknown    dialect = iota
	postgreSQL         // and what calls itself that
	mySQL              // MariaDB too
)

// dialect asks the server what it is, once.
func (s *Service) dialect(ctx context.Context) (dialect, error) {
	s.mu.Lock()
	kind := s.kind
	s.mu.Unlock()
	if kind != unknown {
		return kind, nil
	}
	var version string
	if err := s.db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
		return unknown, fmt.Errorf("ask the server for its version: %w", err)
	}
	switch {
	case strings.HasPrefix(version, "PostgreSQL "), strings.HasPrefix(version, "CockroachDB "):
		kind = postgreSQL
	case strings.Contains(version, "MariaDB"), version != "" && version[0] >= '5' && version[0] <= '9':
		kind = mySQL // "10.11.19-MariaDB", "8.4.2"
	default:
		return unknown, fmt.Errorf("the server is %q: this package knows PostgreSQL, MySQL and MariaDB; without it, ADK's service works with everything that it works with", version)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kind = kind
	return kind, nil
}

// sql returns a statement with the dialect's placeholders: ? becomes $1, $2, ... for PostgreSQL.
func (d dialect) sql(statement string) string {
	if d != postgreSQL {
		return statement
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitSeq(statement, "?") {
		if n > 0 {
			fmt.Fprintf(&b, "$%d", n)
		}
		b.WriteString(part)
		n++
	}
	return b.String()
}
