package sessionfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// Chain is the hash chain of one session as the file has it.
type Chain struct {
	App, User, Session string
	// Created is the column created_at. A session that is later created under the same name has
	// another.
	Created string
	// Events is the number of events by the table sessions. Undigested of them were stored before
	// events had digests.
	Events, Undigested int64
	// Head is the stored digest of the newest event. It is nil if the session has no events, or if
	// all of them were stored before events had digests.
	Head *Digest

	key int64
}

// Link is one event of a chain.
type Link struct {
	// Seq is the number of the event in its session, from 1.
	Seq int64
	ID  string
	// Content is the digest of the row without its number.
	Content Digest
	// Digest is the digest of this event and all before it, recomputed from the rows.
	Digest Digest
	// Stored is the column digest, nil for NULL.
	Stored []byte
	// Fits reports whether Stored follows from this row and from the stored digest of the row
	// before. In a changed chain only the links that somebody touched do not fit. It is false if
	// Stored is nil.
	Fits bool
}

const (
	selectChains = `SELECT s.key, s.app, s.user, s.id, s.created_at, s.last_seq, s.undigested,
		(SELECT digest FROM events WHERE session = s.key AND seq = s.last_seq)
		FROM sessions s WHERE ?1 = 0 OR s.key = ?1 ORDER BY s.app, s.user, s.id`
	// SelectChain has the columns of a session's events that their digests are made of.
	SelectChain = `SELECT seq, digest, id, time, invocation_id, author, branch, record_id, content, actions, usage_metadata,
		custom_metadata, long_running_tool_ids, extra FROM events WHERE session = ? ORDER BY seq`
	selectIdentity = `SELECT id FROM identity LIMIT 1`
)

// Identity returns the random ID that the file got when it was created, "" if somebody deleted it.
// Copies of a file have the same ID.
func Identity(ctx context.Context, file Querier) (id string, err error) {
	err = ScanOne(ctx, file, selectIdentity, nil, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// Chains returns the chains of all sessions, in the order of their names.
func Chains(ctx context.Context, file Querier) ([]Chain, error) { return chains(ctx, file, 0) }

// ChainOf returns the chain of the session with this key in the table sessions. Errors wrap
// [compaction.ErrNotFound] if there is no such row.
func ChainOf(ctx context.Context, file Querier, row int64) (Chain, error) {
	found, err := chains(ctx, file, row)
	if err == nil && (row == 0 || len(found) == 0) {
		err = fmt.Errorf("%w: row %d", adk.ErrNotFound, row)
	}
	if err != nil {
		return Chain{}, err
	}
	return found[0], nil
}

// chains returns the chain of the session with a key, or all chains for key 0.
func chains(ctx context.Context, file Querier, row int64) ([]Chain, error) {
	rows, err := file.Query(ctx, selectChains, row)
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

// Links recomputes the chain from its rows, in order, and compares it with the stored digests. It
// holds one row at a time. An error ends the sequence.
func (c Chain) Links(ctx context.Context, file Querier) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		rows, err := file.Query(ctx, SelectChain, c.key)
		if err != nil {
			yield(Link{}, err)
			return
		}
		Links(rows, &Digester{}, c.Genesis())(yield)
	}
}

// Links recomputes the chain of the rows of [SelectChain], and closes them. It follows the
// recomputed digests and the stored ones at the same time. For example, if somebody changes the
// text of event 2 of 3,
//
//	event  Digest      Stored  Fits
//	1      as stored   yes     true
//	2      another     old     false: its row gives another digest
//	3      another     old     true: it follows from the stored digest of event 2
//
// Only event 2 does not fit, although the recomputed digests differ from there on.
func Links(rows *sql.Rows, d *Digester, before Digest) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		defer rows.Close()
		columns := make([][]byte, 12) // not sql.RawBytes, which can be nil for an empty text
		l := Link{Digest: before}
		into := []any{&l.Seq, &l.Stored}
		for i := range columns {
			into = append(into, &columns[i])
		}
		fits := before // the stored digest of the row before, or the recomputed one for NULL
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(Link{}, err)
				return
			}
			for _, column := range columns {
				d.bytes(column)
			}
			l.ID, l.Content = string(columns[0]), d.sum()
			l.Digest = d.Next(l.Digest, l.Seq, l.Content)
			want := d.Next(fits, l.Seq, l.Content)
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
	var d Digester
	return d.Genesis(c.App, c.User, c.Session, c.Created)
}
