package persistence

import (
	"context"
	"database/sql"
	"errors"
)

// statements are prepared on one connection. database/sql leaves it to us to close them, and SQLite does
// not fold the write-ahead log back into the file while one is open.
type statements struct {
	conn *sql.Conn
	all  []*sql.Stmt
}

// prepare fills in the statements, by their text.
func (s *statements) prepare(ctx context.Context, wanted map[string]**sql.Stmt) error {
	for text, into := range wanted {
		stmt, err := s.conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		s.all = append(s.all, stmt)
		*into = stmt
	}
	return nil
}

func (s *statements) close() error {
	errs := make([]error, 0, len(s.all))
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	s.all = nil
	return errors.Join(errs...)
}
