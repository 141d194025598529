package textindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/adk/session"

	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/eventrow"
	"github.com/adk-go-ext/longsession/internal/wordsearch"
)

const (
	// portion is how many events are indexed in one transaction: other writes wait for some milliseconds.
	portion = 64

	selectNextEvents = `SELECT ` + eventrow.Columns + `, key FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`
	// selectNewestCovered reads from the end, where few events are not covered.
	selectNewestCovered = `SELECT seq FROM events WHERE session = ? AND covered_by IS NOT NULL AND record_id IS NULL ORDER BY seq DESC LIMIT 1`

	insertWords   = `INSERT OR REPLACE INTO search (rowid, words) VALUES (?, ?)`
	insertTerms   = `INSERT OR REPLACE INTO search_terms (event, terms) VALUES (?, ?)`
	insertIndexed = `INSERT INTO search_sessions (session, version, salt, indexed_to, newest, ended, documents, length, turns)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING`
	updateIndexed = `UPDATE search_sessions SET indexed_to = ?4, newest = ?5, ended = ?6, documents = ?7, length = ?8, turns = ?9
		WHERE session = ?1 AND version = ?2 AND salt = ?3 AND indexed_to = ?10`
	deleteIndexed = `DELETE FROM search_sessions WHERE session = ? AND hex(salt) = ?`
	upsertEpisode = `INSERT INTO search_episodes (session, first, last, length) VALUES (?, ?, ?, ?)
		ON CONFLICT (session, first) DO UPDATE SET last = excluded.last, length = excluded.length`
	insertAuthor = `INSERT INTO search_authors (session, author) VALUES (?, ?) ON CONFLICT DO NOTHING`
	insertTurn   = `INSERT INTO search_turns (session, seq, turn) VALUES (?, ?, ?)`
)

// errOvertaken is the reason why a portion was not stored: another writer has indexed the session meanwhile.
var errOvertaken = errors.New("another writer has indexed the session")

// indexer writes the index of one session.
type indexer struct {
	*Index
	req    *session.GetRequest
	redact func(string) string
}

// catchUp indexes the session up to its newest event, or to its newest covered one.
func (s *indexer) catchUp(ctx context.Context, covered bool) error {
	for mended := false; ; {
		p, err := s.nextPortion(ctx, covered)
		if err == nil && p == nil {
			return nil
		}
		if err == nil {
			err = s.file.Write(ctx, func(w *Writer) error { return p.store(w, s.req) })
		}
		if err == nil {
			err = s.mergeIndex(ctx, p.after.length-p.before.length)
		}
		if IsDamage(err) && !mended {
			mended, err = true, s.Empty(ctx)
		}
		if err != nil && !errors.Is(err, errOvertaken) {
			return err
		}
	}
}

// document is an event as the index has it.
type document struct {
	key, seq int64
	event    *session.Event // nil if its row cannot be read
	terms    []string       // nil if it cannot be found
}

// indexPortion is what one transaction adds to the index.
type indexPortion struct {
	before, after indexed
	isNew         bool   // the session has no row yet
	isStale       bool   // it has one that cannot be used, which is given up
	stale         string // the salt of that one, in hexadecimal digits
	documents     []document
	episodes      []wordsearch.Episode // new ones, and the last one before as it is now
	turns         []int64              // seq
}

// nextPortion reads and analyzes the next events to index. It returns nil if there are none.
func (s *indexer) nextPortion(ctx context.Context, covered bool) (p *indexPortion, err error) {
	err = s.file.Read(ctx, func(r *Reader) error {
		if err := r.prepareSearch(ctx); err != nil {
			return err
		}
		key, end, err := find(ctx, r.Conn, s.req)
		if err != nil {
			return err
		}
		if covered {
			end = 0
			err := r.search.newestCovered.QueryRowContext(ctx, key).Scan(&end)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		p, err = r.portionUpTo(ctx, key, end, s.redact)
		return err
	})
	return p, err
}

// portionUpTo is nextPortion for a session and the number of the last event to index.
func (r *Reader) portionUpTo(ctx context.Context, key, end int64, redact func(string) string) (*indexPortion, error) {
	p := &indexPortion{}
	x, found, err := readIndexed(r.search.indexed.QueryRowContext(ctx, key).Scan, key)
	if err != nil {
		return nil, err
	}
	usable := found && x.isCurrent()
	if usable && x.documents > 0 {
		switch err := r.checkWords(ctx, x); {
		case errors.Is(err, errWordsMissing):
			usable = false
		case err != nil:
			return nil, err
		}
	}
	switch {
	case !usable:
		p.isStale, p.stale = found, fmt.Sprintf("%X", x.salt)
		x, p.isNew = fresh(key), true
	case x.documents > 0:
		var last wordsearch.Episode
		if err := r.search.lastEpisode.QueryRowContext(ctx, key).Scan(&last.First, &last.Last, &last.Length); err != nil {
			return nil, err
		}
		p.episodes = append(p.episodes, last)
	}
	if x.to >= end {
		return nil, nil
	}
	rows, err := r.search.next.QueryContext(ctx, key, x.to, end, portion)
	if p.documents, err = scanIndexable(rows, err, redact); err != nil {
		return nil, err
	}
	if len(p.documents) == 0 {
		return nil, fmt.Errorf("event %d of session %d is missing: the file was changed by hand: run longsession audit verify, or restore a backup", x.to+1, key)
	}
	p.before = x
	return p, p.count()
}

// count computes the state of the index after the portion.
func (p *indexPortion) count() error {
	x := p.before
	before, err := x.endedAt()
	if err != nil {
		return err
	}
	for _, d := range p.documents {
		x.to = d.seq
		if d.event == nil {
			continue
		}
		if c := adk.Classify(d.event); c.Is(adk.Message) && !c.Is(adk.Responds) {
			x.turns++
			p.turns = append(p.turns, d.seq)
		}
		if d.terms == nil {
			continue
		}
		n := spoken(d.terms)
		p.episodes = wordsearch.Extend(p.episodes, int(d.seq), n, before, d.event.Timestamp)
		before = d.event.Timestamp
		x.ended, _ = eventrow.FormatTime(before)
		x.newest, x.documents, x.length = d.key, x.documents+1, x.length+n
	}
	p.after = x
	return nil
}

// spoken counts terms without those of dates.
func spoken(terms []string) (n int) {
	for _, term := range terms {
		if !strings.HasPrefix(term, dateMark) {
			n++
		}
	}
	return n
}

// dateMark begins the terms of dates, see [wordsearch.Terms].
const dateMark = "d:"

// scanIndexable returns the events of rows with their terms. A row that cannot be decoded has none: it cannot be
// returned, so it need not be found.
func scanIndexable(rows *sql.Rows, err error, redact func(string) string) ([]document, error) {
	return scanDocuments(rows, err, func(ev *session.Event) []string { return wordsearch.Terms(ev, redact) })
}

// scanDocuments returns the events of rows, with what terms returns for each.
func scanDocuments(rows *sql.Rows, err error, terms func(*session.Event) []string) ([]document, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var raw []eventrow.Stored
	var out []document
	for rows.Next() {
		raw = append(raw, eventrow.Stored{})
		d := document{}
		if err := rows.Scan(append(raw[len(raw)-1].Fields(), &d.key)...); err != nil {
			return nil, err
		}
		d.seq = raw[len(raw)-1].Seq
		out = append(out, d)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return out, analyze(raw, out, terms)
}

// errRedact marks a panic of the app's function that redacts texts.
var errRedact = errors.New("a text cannot be redacted")

// analyze decodes rows and fills in the documents' events and terms, on all processors. A panic of redact is an error:
// in a goroutine of ours, nobody else could recover it.
func analyze(raw []eventrow.Stored, into []document, terms func(*session.Event) []string) error {
	const each = 16
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(raw); from += each {
		all.Go(func() (err error) {
			defer func() {
				if cause := recover(); cause != nil {
					err = fmt.Errorf("%w: panic: %v", errRedact, cause)
				}
			}()
			for i := from; i < min(from+each, len(raw)); i++ {
				if ev, err := eventrow.Decode(&raw[i]); err == nil {
					into[i].event, into[i].terms = ev, terms(ev)
				}
			}
			return nil
		})
	}
	return all.Wait()
}

// store stores a portion, unless the session or its index has changed since it was made.
func (p *indexPortion) store(w *Writer, req *session.GetRequest) error {
	ctx := context.Background()
	key, _, err := find(ctx, w.Conn, req)
	if err != nil {
		return err
	}
	if key != p.before.session {
		return errOvertaken
	}
	if err := w.prepareIndex(); err != nil {
		return err
	}
	if err := p.moveMark(w); err != nil {
		return err
	}
	for _, d := range p.documents {
		if d.terms == nil {
			continue
		}
		words, terms := p.after.words(d)
		if _, err := run(w.index.addWords, d.key, words); err != nil {
			return err
		}
		if _, err := run(w.index.addTerms, d.key, terms); err != nil {
			return err
		}
		if _, err := run(w.index.addAuthor, key, d.event.Author); err != nil {
			return err
		}
	}
	for _, e := range p.episodes {
		if _, err := run(w.index.setEpisode, key, e.First, e.Last, e.Length); err != nil {
			return err
		}
	}
	for i, seq := range p.turns {
		if _, err := run(w.index.addTurn, key, seq, p.before.turns+i+1); err != nil {
			return err
		}
	}
	return nil
}

// moveMark stores how far the session is indexed. It returns errOvertaken if that is not as it was when the portion was
// made.
func (p *indexPortion) moveMark(w *Writer) error {
	x := p.after
	newest, ended := any(nil), any(nil)
	if x.documents > 0 {
		newest, ended = x.newest, x.ended
	}
	args := []any{x.session, x.version, x.salt, x.to, newest, ended, x.documents, x.length, x.turns}
	moved := w.index.setIndexed
	if p.isNew {
		moved = w.index.addIndexed
		for _, table := range []string{"search_turns", "search_episodes", "search_authors"} { // left over by hand
			if _, err := w.Conn.ExecContext(context.Background(), "DELETE FROM "+table+" WHERE session = ?", x.session); err != nil {
				return err
			}
		}
		if p.isStale {
			if _, err := run(w.index.removeIndexed, x.session, p.stale); err != nil {
				return err
			}
		}
	} else {
		args = append(args, p.before.to)
	}
	n, err := run(moved, args...)
	if err == nil && n == 0 {
		err = errOvertaken
	}
	return err
}

// words returns the text of a row of the table search, and the terms of one of search_terms.
func (x indexed) words(d document) (string, []byte) {
	var text strings.Builder
	p := packer{indexed: x, asks: wordsearch.Asks(wordsearch.Text(d.event))}
	mentions := make(map[string]int, len(d.terms))
	for _, term := range d.terms {
		mentions[term]++
		text.WriteString(x.word(term, mentions[term]))
		text.WriteByte(' ')
		p.add(term)
	}
	return text.String(), p.packed()
}

// indexStatements write the index. They are prepared at the first use, so that a damaged index keeps nobody from
// opening the file.
type indexStatements struct {
	addWords, addTerms                    *sql.Stmt
	addIndexed, setIndexed, removeIndexed *sql.Stmt
	setEpisode, addAuthor, addTurn        *sql.Stmt
}

// prepareIndex prepares the statements for the index, unless they are prepared.
func (w *Writer) prepareIndex() error {
	if w.index.addTurn != nil {
		return nil
	}
	var p indexStatements
	err := w.Prepare(context.Background(), map[string]**sql.Stmt{
		insertWords:   &p.addWords,
		insertTerms:   &p.addTerms,
		insertIndexed: &p.addIndexed,
		updateIndexed: &p.setIndexed,
		deleteIndexed: &p.removeIndexed,
		upsertEpisode: &p.setEpisode,
		insertAuthor:  &p.addAuthor,
		insertTurn:    &p.addTurn,
	})
	if err == nil {
		w.index = p
	}
	return err
}
