package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/adk/session"
)

// Chain is the hash chain of one session as the file has it.
type Chain struct {
	App, User, Session string
	// Created is the column created_at: it tells a session from one that was made under its name later.
	Created string
	// Events is how many events the session says it has, and Undigested how many of these were stored
	// before there were digests.
	Events, Undigested int64
	// Head is the digest that is stored with the newest event. It is nil if there is none: in a session
	// without events, or whose events were all stored before there were digests.
	Head *Digest

	key int64
}

// Link is one event of a chain.
type Link struct {
	// Seq is the event's number and ID its ID.
	Seq int64
	ID  string
	// Content is the digest of the row without its number.
	Content Digest
	// Digest is that of the event and all before it, recomputed from the rows.
	Digest Digest
	// Stored is the column digest; nil for NULL.
	Stored []byte
	// Fits reports whether Stored follows from this row and from what is stored with the row before, so
	// that of a changed chain only those links do not fit that were touched. It is false if Stored is nil.
	Fits bool
}

const (
	selectChains = `SELECT s.key, s.app, s.user, s.id, s.created_at, s.last_seq, s.undigested,
		(SELECT digest FROM events WHERE session = s.key AND seq = s.last_seq)
		FROM sessions s WHERE ?1 = 0 OR s.key = ?1 ORDER BY s.app, s.user, s.id`
	selectIdentity = `SELECT id FROM identity LIMIT 1`
)

// Identity returns the ID that the file got when it was made, "" if somebody has deleted it. Copies of a file have
// the same.
func (s *Snapshot) Identity(ctx context.Context) (id string, err error) {
	err = s.conn.QueryRowContext(ctx, selectIdentity).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// Chains returns the chains of all sessions, in the order of their names.
func (s *Snapshot) Chains(ctx context.Context) ([]Chain, error) { return s.chains(ctx, 0) }

// Chain returns the chain of the session in a row of the table sessions, by its column key. Errors wrap
// [session.ErrNotFound] if there is no such row.
func (s *Snapshot) Chain(ctx context.Context, row int64) (Chain, error) {
	found, err := s.chains(ctx, row)
	if err == nil && (row == 0 || len(found) == 0) {
		err = fmt.Errorf("%w: row %d", session.ErrNotFound, row)
	}
	if err != nil {
		return Chain{}, err
	}
	return found[0], nil
}

// chains returns the chain of the session in a row, or of all for row 0.
func (s *Snapshot) chains(ctx context.Context, row int64) ([]Chain, error) {
	rows, err := s.Query(ctx, selectChains, row)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Chain
	for rows.Next() {
		var c Chain
		var digest []byte
		if err := rows.Scan(&c.key, &c.App, &c.User, &c.Session, &c.Created, &c.Events, &c.Undigested, &digest); err != nil {
			return nil, err
		}
		if len(digest) == len(Digest{}) {
			head := Digest(digest)
			c.Head = &head
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// Links recomputes a chain from the rows, in order, and compares it with what is stored. It holds one row
// at a time. An error ends it.
func (s *Snapshot) Links(ctx context.Context, c Chain) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		rows, err := s.Query(ctx, selectChain, c.key)
		if err != nil {
			yield(Link{}, err)
			return
		}
		chainLinks(rows, &digester{}, c.Genesis())(yield)
	}
}

// chainLinks recomputes the chain of the rows of selectChain, and closes them.
func chainLinks(rows *sql.Rows, d *digester, before Digest) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		defer rows.Close()
		columns := make([][]byte, 12) // no sql.RawBytes, which can be nil for an empty text
		l := Link{Digest: before}
		into := []any{&l.Seq, &l.Stored}
		for i := range columns {
			into = append(into, &columns[i])
		}
		fits := before // what the next stored digest must follow
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(Link{}, err)
				return
			}
			for _, column := range columns {
				d.bytes(column)
			}
			l.ID, l.Content = string(columns[0]), d.sum()
			l.Digest = d.next(l.Digest, l.Seq, l.Content)
			want := d.next(fits, l.Seq, l.Content)
			l.Fits = string(l.Stored) == string(want[:])
			if fits = l.Digest; len(l.Stored) == len(fits) {
				fits = Digest(l.Stored)
			}
			if !yield(l, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Link{}, err)
		}
	}
}

// Genesis returns the digest that the first event of the session follows.
func (c Chain) Genesis() Digest {
	var d digester
	return d.genesis(c.App, c.User, c.Session, c.Created)
}
