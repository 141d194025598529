package sessionfile

import (
	"context"
	"database/sql"
	"errors"
)

// Statements are the prepared statements of one connection. database/sql does not close them by
// itself, and SQLite cannot copy the write-ahead log into the file while one of them is open.
type Statements struct {
	Conn *sql.Conn
	all  []*sql.Stmt
}

// Prepare prepares statements. The keys of wanted are their texts.
func (s *Statements) Prepare(ctx context.Context, wanted map[string]**sql.Stmt) error {
	for text, into := range wanted {
		stmt, err := s.Conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		s.all = append(s.all, stmt)
		*into = stmt
	}
	return nil
}

// Close closes all statements.
func (s *Statements) Close() error {
	errs := make([]error, 0, len(s.all))
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	s.all = nil
	return errors.Join(errs...)
}
